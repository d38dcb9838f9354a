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

// albums is a fake whose files have 6 MB each.
type albums struct{ *fake }

func (f albums) Fetch(context.Context, adapters.File, int64) ([]byte, error) {
	return make([]byte, 6<<20), nil
}

// TestC7_FilesAreBounded: of one message's files 20 MB are loaded, the others are named; a history
// carries the newest files, the older ones are named.
func TestC7_FilesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := albums{newFake("telegram")}
		size, mentions := 0, 0
		b := start(t, setup{fake: f.fake, adapter: f, backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
			size, mentions = 0, 0
			for _, m := range req.History {
				for _, p := range m.Blocks {
					size += len(p.Data)
					if strings.Contains(p.Text, "not loaded any more") {
						mentions++
					}
				}
			}
			say(emit, "1", "ok")
			return nil
		})})
		for i := range 4 {
			b.write("dm", "look", func(m *adapters.Message) {
				for j := range 5 {
					m.Files = append(m.Files, adapters.File{Name: fmt.Sprintf("%d-%d.jpg", i, j), MIME: "image/jpeg", Source: "x", Size: 6 << 20})
				}
			})
			after(time.Minute)
			if want := 18 << 20; size != want {
				t.Errorf("album %d: the history carries %d MB of files", i, size>>20)
			}
			if mentions != 3*i {
				t.Errorf("album %d: %d older files are named", i, mentions)
			}
		}
		b.want("dm", "Together these files have more than 20 MB. Not loaded: 3-3.jpg, 3-4.jpg")
	})
}
