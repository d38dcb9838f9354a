package turn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent"
)

// fetching is a fake that has files.
type fetching struct {
	posting
	files map[string]string
}

func (f fetching) Fetch(_ context.Context, file adapters.File, limit int64) ([]byte, error) {
	data, ok := f.files[file.Source]
	if !ok || int64(len(data)) > limit {
		return nil, errors.New("no such file")
	}
	return []byte(data), nil
}

// TestC7_FilesReachTheAgent: images and text files, in their message's order; what does not is named
// to the agent and to the person.
func TestC7_FilesReachTheAgent(t *testing.T) {
	for _, c := range []struct {
		file adapters.File
		data string // what the agent gets
		note string // what the person reads
	}{
		{adapters.File{Name: "a.png", MIME: "image/png", Source: "ok"}, "content", ""},
		{adapters.File{Name: "a.txt", MIME: "text/plain", Source: "ok"}, "content", ""},
		{adapters.File{Name: "a.json", MIME: "application/json", Source: "ok"}, "content", ""},
		{adapters.File{Name: "a.svg", MIME: "image/svg+xml", Source: "ok"}, "content", ""},
		{adapters.File{Name: "a", MIME: "", Source: "ok"}, "content", ""},
		{adapters.File{Name: "a.zip", MIME: "application/zip", Source: "ok"}, "", "I can read images and text files only."},
		{adapters.File{Name: "a.png", MIME: "image/png", Source: "gone"}, "", "a.png could not be loaded. Please send it again."},
		{adapters.File{Name: "a.png", MIME: "image/png", Source: "ok", Size: 21 << 20}, "", "a.png is too big; 20 MB is the limit."},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fetching{newPosting("telegram"), map[string]string{"ok": "content"}}
			var got agent.Message
			b := start(t, setup{fake: f.fake, adapter: f, backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
				got = req.History[0]
				say(emit, "1", "Seen.")
				return nil
			})})
			b.write("dm", "look", func(m *adapters.Message) { m.Files = []adapters.File{c.file} })
			after(10 * time.Second)
			if len(got.Blocks) != 2 || got.Blocks[0].Text != "look" {
				t.Fatalf("%v: the agent got %+v", c.file, got)
			}
			p := got.Blocks[1]
			if c.data != "" && (p.Kind != agent.PartFile || string(p.Data) != c.data || p.Name != c.file.Name) {
				t.Errorf("%v: the agent got %+v", c.file, p)
			}
			if c.data == "" && (p.Kind != agent.PartText || !strings.Contains(p.Text, c.file.Name)) {
				t.Errorf("%v: the agent got %+v", c.file, p)
			}
			b.want("dm", "Seen.", c.note)
			if c.note == "" && len(b.bot("dm")) != 1 {
				t.Errorf("%v: %q", c.file, b.bot("dm"))
			}
		})
	}
}

// TestC7_AFileWithoutText is a message too, and a stop word as a caption is none.
func TestC7_AFileWithoutText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fetching{newPosting("telegram"), map[string]string{"ok": "content"}}
		runs := 0
		b := start(t, setup{fake: f.fake, adapter: f, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			runs++
			return working(5*time.Second, "Seen.")(ctx, req, emit)
		})})
		for _, text := range []string{"", "stop"} {
			b.write("dm", text, func(m *adapters.Message) { m.Files = []adapters.File{{Name: "a.png", MIME: "image/png", Source: "ok"}} })
			after(time.Second)
		}
		after(30 * time.Second)
		if runs != 2 {
			t.Errorf("%d runs", runs)
		}
		b.wantNot("dm", "Stopped")
	})
}

// TestC7_ProducedFilesAreUploaded with the answer, from tools as well as from the agent, with or
// without a text.
func TestC7_ProducedFilesAreUploaded(t *testing.T) {
	for _, text := range []string{"Here it is.", ""} {
		synctest.Test(t, func(t *testing.T) {
			f := newPosting("telegram")
			tools := toolFunc(func(context.Context, agent.ToolCall) (agent.ToolResult, error) {
				return agent.ToolResult{Content: "made", Files: []agent.FileProduced{{Name: "tool.csv", MIME: "text/csv", Data: []byte("1,2")}}}, nil
			})
			b := start(t, setup{fake: f.fake, adapter: f, tools: tools, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				emit(agent.FileProduced{Name: "agent.png", MIME: "image/png", Data: []byte("png")})
				if _, err := req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "make", Args: []byte(`{}`)}); err != nil {
					return err
				}
				if text != "" {
					say(emit, "1", text)
				}
				return nil
			})})
			b.write("dm", "make it")
			after(time.Minute)
			var files []string
			for _, p := range *f.sent {
				for _, file := range p.Files {
					files = append(files, file.Name+"="+string(file.Data))
				}
			}
			if got := strings.Join(files, " "); got != "agent.png=png tool.csv=1,2" {
				t.Errorf("uploaded %q", got)
			}
			if text != "" {
				b.want("dm", text)
			}
		})
	}
}
