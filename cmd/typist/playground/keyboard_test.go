package playground_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// focused says what has the focus.
const focused = `(() => { const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.textContent.trim().slice(0, 40); })()`

// tabTo presses Tab until an element has the focus.
func (p *page) tabTo(selector string) {
	p.t.Helper()
	for range 80 {
		p.press("Tab")
		if eval[bool](p, fmt.Sprintf(`Boolean(document.activeElement?.matches(%q))`, selector)) {
			return
		}
	}
	p.t.Fatalf("Tab does not reach %s; it is at %s", selector, eval[string](p, focused))
}

func TestW6_KeyboardOnly(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	// Write, and see the answer.
	pg.tabTo(`.telegram .write`)
	pg.types("long")
	pg.press("Enter")
	pg.sees("telegram", "Wait for the tide")
	if ring := eval[string](pg, `getComputedStyle(document.activeElement).outlineStyle`); ring != "solid" {
		t.Errorf("the focus ring is %q", ring)
	}
	// Press the bot's button.
	pg.focus("#demos")
	pg.tabTo(`.telegram .key`)
	pg.press("Enter")
	pg.sees("telegram", "Stopped after")
	// Go through the messages with the arrows, open one's menu, leave it with Escape.
	pg.focus("#demos")
	pg.tabTo(`.telegram .msg`)
	pg.press("Home")
	pg.wait(`document.activeElement.matches('.telegram .own')`)
	pg.press("Enter")
	pg.wait(`document.activeElement.getAttribute('role') === 'menuitem'`)
	pg.press("ArrowDown")
	pg.wait(`document.activeElement.textContent === 'Edit'`)
	pg.press("Escape")
	pg.wait(`!document.querySelector('.menu')`)
	// Another chat, by the arrows in the list.
	pg.focus("#demos")
	pg.tabTo(`.telegram .chat`)
	pg.press("ArrowDown", "Enter")
	pg.wait(`document.querySelector('.telegram .conv-name').textContent === 'Team'`)
	// The inspector's tabs.
	pg.tabTo(`[role=tab]`)
	pg.press("ArrowRight", "Enter")
	pg.wait(`document.querySelector('#tab-calls').getAttribute('aria-selected') === 'true'`)
	// A panel takes the focus, gives it back, and closes by Escape.
	pg.focus("#knobs")
	pg.press("Enter")
	pg.wait(`document.querySelector('.knobs')?.contains(document.activeElement)`)
	pg.press("Escape")
	pg.wait(`document.activeElement.id === 'knobs' && !document.querySelector('.knobs')`)
}

func TestW6_OnlyTheStatusIsAnnounced(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("slack", "work")
	pg.sees("slack", "Build with tests")
	if live := eval[string](pg, `[...document.querySelectorAll('.messages, .messages *')].filter((e) => e.ariaLive || /^(log|status|alert)$/.test(e.getAttribute('role'))).map((e) => e.className).join()`); live != "" {
		t.Errorf("streamed text is announced: %s", live)
	}
	if role := eval[string](pg, `document.querySelector('.slack .typing-words').getAttribute('role')`); role != "status" {
		t.Errorf("the status line has the role %q", role)
	}
}

func TestW6_PhoneShowsOnePaneAtATime(t *testing.T) {
	pg := open(t, start(t, stage), phone)
	for _, tab := range []string{"telegram", "discord", "slack"} {
		pg.click(".tab-" + tab)
		pg.wait(fmt.Sprintf(`[...document.querySelectorAll('.pane')].filter((p) => p.offsetParent).map((p) => p.dataset.platform).join() === '%s'`, tab))
		pg.write(tab, "work")
		pg.sees(tab, "All built")
		pg.fits()
	}
	pg.click(in("slack", ".to-list"))
	pg.wait(`getComputedStyle(document.querySelector('.slack .sidebar')).visibility === 'visible'`)
	pg.run(chromedp.Click(in("slack", ".chats li:nth-child(2) button")))
	pg.wait(`document.querySelector('.slack .conv-name').textContent === 'general'`)
	pg.click(".tab-inspector")
	pg.wait(`document.querySelector('#inspector').offsetParent`)
	pg.fits()
}

// fits reports what is wider than the page, or cut off.
func (p *page) fits() {
	p.t.Helper()
	const wide = `[...document.querySelectorAll('body *')].filter((e) => e.offsetParent && !e.closest('.unseen, svg, .sidebar, pre, .scroll, table')).filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + '.' + e.className).join(' ')`
	if list := eval[string](p, wide); list != "" {
		p.shot("too-wide")
		p.t.Errorf("wider than the page: %s", list)
	}
	if eval[bool](p, `document.scrollingElement.scrollWidth > innerWidth || document.scrollingElement.scrollHeight > innerHeight + 1`) {
		p.t.Error("the page itself scrolls")
	}
}

func axe(t *testing.T) string {
	source, err := os.ReadFile(filepath.Join("..", "..", "..", ".ci", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal("axe-core is missing: npm ci --prefix .ci/axe, or run bash .ci/test:", err)
	}
	return string(source)
}

func TestW6_AxeFindsNothingSerious(t *testing.T) {
	source := axe(t)
	p := start(t, stage)
	for _, s := range []size{desktop, phone} {
		for _, dark := range []bool{false, true} {
			s.dark = dark
			t.Run(fmt.Sprintf("%d px, dark %t", s.width, dark), func(t *testing.T) {
				pg := open(t, p, s)
				pg.t = t
				eval[bool](pg, source+"; true")
				check := func(what string) {
					t.Helper()
					found := eval[string](pg, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 4).map((n) => n.target.join(' ') + ' — ' + n.any.map((a) => a.message).join('; ')).join('\n    ')).join('\n'))`)
					if found != "" {
						pg.shot(strings.ReplaceAll(fmt.Sprintf("axe-%s-%d-%t", what, s.width, dark), " ", "-"))
						t.Errorf("%s: %s", what, found)
					}
				}
				pg.fits()
				check("before")
				for _, platform := range []string{"telegram", "discord", "slack"} {
					if s.mobile {
						pg.click(".tab-" + platform)
					}
					pg.write(platform, "work")
					pg.sees(platform, "Build with tests")
				}
				check("at work")
				pg.sees("slack", "All built")
				for _, view := range []string{"timeline", "calls", "trace", "tree"} {
					if s.mobile {
						pg.click(".tab-inspector")
					}
					pg.click("#tab-" + view)
					check(view)
				}
				pg.click("#demos")
				check("scripts")
				pg.press("Escape")
				pg.click("#knobs")
				check("knobs")
			})
		}
	}
}
