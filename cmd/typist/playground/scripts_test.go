package playground_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"typist/agent/backend/script"
)

// A script takes a minute at most; here many play at the same time.
const scriptPatience = 2 * time.Minute

func TestW5_EveryScriptPlaysToItsEnd(t *testing.T) {
	demos, err := script.Demos()
	if err != nil {
		t.Fatal(err)
	}
	if len(demos) < 14 {
		t.Fatalf("only %d scripts", len(demos))
	}
	// All play at the same time: they mostly wait.
	pages := map[string]*page{}
	platformOf := map[string]string{}
	for i, d := range demos {
		platform := []string{"telegram", "discord", "slack"}[i%3] // they take turns
		pg := open(t, start(t, ""), desktop)
		pg.click("#demos")
		eval[bool](pg, fmt.Sprintf(`document.querySelector('input[name="where"][value="%s"]').click() ?? true`, platform))
		pg.run(chromedp.ScrollIntoView(`[data-demo="` + d.Name + `"]`))
		pg.click(`[data-demo="` + d.Name + `"]`)
		pages[d.Name], platformOf[d.Name] = pg, platform
	}
	for _, d := range demos {
		t.Run(d.Name, func(t *testing.T) {
			pg, platform := pages[d.Name], platformOf[d.Name]
			pg.t = t
			pg.waitFor(scriptPatience, `document.documentElement.dataset.demo === 'done'`)
			caption := eval[string](pg, `document.querySelector('.caption-words').textContent`)
			if caption == "" || strings.Contains(caption, "It stopped here") {
				t.Errorf("caption: %q", caption)
			}
			// Nothing that looks at work is left, and nothing typed longer than it should (T8).
			pg.typing(platform, false)
			pg.wait(fmt.Sprintf(`!/Working…|Thinking…|Stopping…/.test(document.querySelector('%s').textContent)`, in(platform, ".messages")))
			pg.click(in(platform, ".look"))
			pg.wait(`document.querySelector('.where').textContent.toLowerCase().startsWith('` + platform + `')`)
			pg.wait(`/^Run /.test(document.querySelector('.view-timeline .summary').textContent)`)
			if summary := eval[string](pg, `document.querySelector('.view-timeline .summary').textContent`); strings.Contains(summary, "ghost of") || strings.Contains(summary, "gap") && !strings.Contains(summary, "no gap") {
				t.Errorf("timeline: %s", summary)
			}
			pg.shot("script-" + d.Name)
		})
	}
}
