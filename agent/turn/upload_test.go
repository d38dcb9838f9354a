package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent"
)

// picky is a fake that refuses files.
type picky struct {
	posting
	refuse error
}

func (p picky) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	for _, f := range post.Files {
		if f.Name == "bad.txt" {
			return adapters.Ref{}, fmt.Errorf("the file: %w", p.refuse)
		}
	}
	return p.posting.Send(ctx, chat, post)
}

// TestC7_RefusedFileKeepsTheText: the answer stands without the file, which a note names; files
// that the platform can't take are not tried at all, and the others go along.
func TestC7_RefusedFileKeepsTheText(t *testing.T) {
	for _, c := range []struct {
		refuse error
		files  []string
		note   string
		sent   string
	}{
		{adapters.ErrInvalid, []string{"bad.txt"}, "This could not be sent as a file: bad.txt", ""},
		{adapters.ErrDenied, []string{"bad.txt", "b.txt"}, "This could not be sent as a file: bad.txt, b.txt", ""},
		{adapters.ErrInvalid, []string{"empty.txt", "long.txt", "b.txt"}, "This could not be sent as a file: empty.txt, long.txt", "b.txt"},
		{adapters.ErrInvalid, []string{"b.txt"}, "", "b.txt"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := picky{newPosting("telegram"), c.refuse}
			f.fake.caps.MaxUploadBytes = 10
			b := start(t, setup{fake: f.fake, adapter: f, backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
				for _, name := range c.files {
					data := map[string]string{"empty.txt": "", "long.txt": "more than ten"}
					content, ok := data[name]
					if !ok {
						content = "content"
					}
					emit(agent.FileProduced{Name: name, MIME: "text/plain", Data: []byte(content)})
				}
				say(emit, "1", "The answer.")
				return nil
			})})
			b.write("dm", "make it")
			after(time.Minute)
			b.want("dm", "The answer.", c.note)
			var sent []string
			for _, p := range *f.sent {
				for _, file := range p.Files {
					sent = append(sent, file.Name)
				}
			}
			want := 1
			if c.note != "" {
				want = 2
			}
			if got := strings.Join(sent, " "); got != c.sent || len(b.bot("dm")) != want {
				t.Errorf("%v: sent %q:\n%s", c.files, got, b.text("dm"))
			}
		})
	}
}
