package playground_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestW3_ARunCanBeSaved(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	// The page's files are kept here instead of in a folder of the browser's.
	eval[bool](pg, `(() => { window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (b) => { saved.push(b); return make.call(URL, b); }; return true; })()`)
	pg.click(`.inspector-head .button.small`)
	pg.press("Enter")
	pg.wait(`/no run in this chat/.test(document.querySelector('.toast')?.textContent)`)

	pg.write("telegram", "work")
	pg.wait(`/Run done/.test(document.querySelector('.view-timeline .summary').textContent)`)
	save := func(n string) (kind, text string) {
		t.Helper()
		eval[bool](pg, `(saved.length = 0, true)`)
		pg.click(`.inspector-head .button.small`)
		pg.click(`.menu-item:nth-child(` + n + `)`)
		pg.wait(`saved.length > 0 && saved.at(-1).type !== ''`)
		pg.wait(`!document.querySelector('.menu')`)
		if n == "2" { // the picture is drawn from the SVG first
			pg.wait(`saved.at(-1).type === 'image/png'`)
			return "image/png", eval[string](pg, `saved.at(-1).slice(0, 4).arrayBuffer().then((b) => [...new Uint8Array(b)].join())`)
		}
		return eval[string](pg, `saved.at(-1).type`), eval[string](pg, `saved.at(-1).text()`)
	}
	if kind, text := save("1"); kind != "image/svg+xml" || !strings.Contains(text, "Build with tests") || !strings.Contains(text, "no gap") || strings.Count(text, ">+") < 2 || strings.Contains(text, "var(--") {
		t.Errorf("SVG: %s %.300s", kind, text)
	}
	if kind, text := save("2"); kind != "image/png" || text != "137,80,78,71" {
		t.Errorf("PNG: %s %s", kind, text)
	}
	kind, text := save("3")
	var record struct {
		Summary   string
		Run       struct{ State string }
		States    []struct{ Text string }
		Calls     []struct{ Method string }
		Indicator []struct{ Pulses int }
		Messages  []struct{ History []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(text), &record); err != nil || kind != "application/json" {
		t.Fatalf("JSON: %s %v", kind, err)
	}
	if record.Run.State != "done" || len(record.States) < 2 || len(record.Calls) < 3 || len(record.Indicator) == 0 || len(record.Messages) == 0 || !strings.Contains(record.Summary, "no ghost") {
		t.Errorf("JSON: %+v", record)
	}
}
