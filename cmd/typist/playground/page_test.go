package playground_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"typist/adapters/sim"
)

// in is a selector inside a platform's pane.
func in(platform, selector string) string {
	return fmt.Sprintf(`[data-platform="%s"] %s`, platform, selector)
}

// write writes into the open conversation of a platform and sends it.
func (p *page) write(platform, text string) {
	p.t.Helper()
	p.focus(in(platform, `.conversation:not([hidden]) .write`))
	p.types(text)
	p.press("Enter")
}

// sees waits until the open conversation of a platform shows something.
func (p *page) sees(platform, pattern string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`/%s/.test([...document.querySelectorAll('%s')].map((l) => l.textContent).join(' '))`, pattern, in(platform, ".conversation .messages")))
}

// key presses a button of the bot.
func (p *page) key(platform, label string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`[...document.querySelectorAll('%s')].some((b) => b.textContent === '%s')`, in(platform, ".key"), label))
	eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll('%s')].findLast((b) => b.textContent === '%s').click() ?? true`, in(platform, ".key"), label))
}

// typing waits until the platform shows that the bot types, or that it does not.
func (p *page) typing(platform string, on bool) {
	p.t.Helper()
	not := ""
	if !on {
		not = "!"
	}
	p.wait(fmt.Sprintf(`%sdocument.querySelector('%s')`, not, in(platform, ".conversation:not([hidden]).is-typing")))
}

func TestW2_WriteSeeItTypeGetAnAnswer(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	for platform, status := range map[string]string{"telegram": "typing", "discord": "Typist is typing…", "slack": "Typist is thinking"} {
		pg.write(platform, "quick")
		pg.typing(platform, true)
		pg.wait(fmt.Sprintf(`document.querySelector('%s').textContent.startsWith('%s')`, in(platform, ".typing-words"), status))
		pg.sees(platform, "Here is the answer")
		pg.typing(platform, false)
		if bold := eval[string](pg, fmt.Sprintf(`document.querySelector('%s').textContent`, in(platform, ".from-bot:last-child .rich b"))); bold != "answer" {
			t.Errorf("%s: bold is %q", platform, bold)
		}
		if words := eval[string](pg, fmt.Sprintf(`document.querySelector('%s').textContent`, in(platform, ".typing-words"))); words != "" {
			t.Errorf("%s still says %q", platform, words)
		}
	}
}

func TestW2_ProgressIsEditedInPlace(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("telegram", "work")
	pg.sees("telegram", "Bash: Build with tests")
	id := eval[string](pg, `document.querySelector('.telegram .from-bot:last-child').dataset.id`)
	pg.shot("progress")
	pg.sees("telegram", "All built")
	if n := eval[int](pg, fmt.Sprintf(`document.querySelectorAll('.telegram [data-id="%s"]').length`, id)); n > 1 {
		t.Errorf("the progress message stands %d times", n)
	}
	pg.typing("telegram", false)
	pg.wait(`!/Working…|Bash:/.test(document.querySelector('.telegram .messages').textContent)`)
	if code := eval[string](pg, `document.querySelector('.telegram pre code').dataset.language`); code != "go" {
		t.Errorf("code of %q", code)
	}
}

func TestW2_GroupsNeedAMention(t *testing.T) {
	p := start(t, stage)
	pg := open(t, p, desktop)
	pg.run(chromedp.Click(in("discord", ".chats li:nth-child(2) button")), chromedp.Click(in("discord", ".at")))
	pg.write("discord", "quick for all")
	pg.sees("discord", "quick for all")
	pg.click(in("discord", ".at"))
	pg.write("discord", "quick for you")
	pg.sees("discord", "Here is the answer")
	if n := eval[int](pg, `document.querySelectorAll('.discord .from-bot').length`); n != 1 {
		t.Errorf("%d answers", n)
	}
	// In Slack's channel the answer goes into the question's thread, which opens beside it.
	pg.run(chromedp.Click(in("slack", ".chats li:nth-child(2) button")))
	pg.write("slack", "work")
	pg.wait(`document.querySelector('.slack .thread:not([hidden])')`)
	pg.sees("slack", "All built")
	pg.wait(`document.querySelectorAll('.slack .thread .msg').length === 2`)
	pg.shot("thread")
	pg.click(in("slack", `.thread [aria-label="Close the thread"]`))
	pg.wait(`document.querySelector('.slack .replies:not([hidden])')?.textContent === '1 reply'`)
	// A topic of Telegram's forum is a chat of its own.
	pg.run(chromedp.Click(in("telegram", ".chats li:nth-child(4) button")))
	pg.write("telegram", "quick")
	pg.sees("telegram", "Here is the answer")
	pg.run(chromedp.Click(in("telegram", ".chats li:nth-child(5) button")))
	pg.wait(`document.querySelectorAll('.telegram .msg').length === 0`)
}

func TestW2_StopAndResume(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("discord", "long")
	pg.sees("discord", "Wait for the tide")
	pg.key("discord", "Stop")
	pg.sees("discord", "Stopped after")
	pg.typing("discord", false)
	pg.shot("stopped")
	pg.key("discord", "Resume")
	pg.sees("discord", "The end\\.")
	pg.wait(`[...document.querySelectorAll('.run-chip')].map((c) => c.dataset.state).join() === 'stopped,done'`)
	if n := eval[int](pg, `[...document.querySelectorAll('.discord .from-bot')].filter((m) => /The beginning.*The beginning/.test(m.textContent)).length`); n > 0 {
		t.Error("the text before the stop was said again")
	}
}

func TestW2_EditMakesASecondAnswer(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("telegram", "river in France")
	pg.sees("telegram", "river in France: the longest one")
	pg.focus(in("telegram", ".write"))
	pg.press("ArrowUp") // edits one's last message
	pg.wait(`document.querySelector('.telegram .write').value === 'river in France'`)
	pg.run(chromedp.SetValue(in("telegram", ".write"), "river in Spain"))
	pg.press("Enter")
	pg.sees("telegram", "river in Spain: the longest one")
	pg.wait(`[...document.querySelectorAll('.telegram .key')].some((b) => b.textContent === '2/2')`)
	pg.wait(`document.querySelector('.telegram .own .edited').textContent === 'edited'`)
	pg.key("telegram", "◀")
	pg.sees("telegram", "river in France: the longest one")
	pg.wait(`[...document.querySelectorAll('.telegram .key')].some((b) => b.textContent === '1/2')`)
	pg.click("#tab-tree")
	pg.wait(`[...document.querySelectorAll('.tree .node-version')].map((v) => v.textContent).join() === '1/2,2/2'`)
	pg.wait(`/river in France: the longest/.test(document.querySelector('.tree .leaf > .node .node-text')?.textContent)`)
	pg.shot("tree")
}

func TestW2_CommandsRepliesFilesAndHeartbeats(t *testing.T) {
	p := start(t, stage)
	pg := open(t, p, desktop)
	pg.focus(in("discord", ".write"))
	pg.types("/vi")
	pg.wait(`document.querySelector('.discord .completion:not([hidden]) [aria-selected="true"]')?.textContent.startsWith('/view')`)
	pg.press("Tab")
	pg.wait(`document.querySelector('.discord .completion [aria-selected="true"] b')?.textContent === 'overview'`)
	pg.press("Enter", "Enter")
	pg.wait(`document.querySelector('.discord .private:not([hidden])')`) // only the asker sees the answer
	pg.shot("command")

	pg.write("telegram", "hello")
	pg.sees("telegram", "You wrote: hello")
	pg.focus(in("telegram", ".from-bot"))
	pg.wait(`getComputedStyle(document.querySelector('.telegram .from-bot .more')).visibility === 'visible'`)
	pg.click(in("telegram", ".from-bot .more"))
	pg.wait(`document.querySelector('.menu')`)
	pg.click(".menu-item:first-child")
	pg.write("telegram", "again")
	pg.wait(`document.querySelector('.telegram .own .quote:not([hidden]) .quote-text')?.textContent === 'You wrote: hello'`)

	pg.sees("telegram", "You wrote: > You wrote: hello *again")
	pg.typing("telegram", false)
	pg.click(in("telegram", ".bench-key")) // a heartbeat
	pg.typing("telegram", true)
	pg.sees("telegram", "one is at 91")
	pg.typing("telegram", false)

	pg.write("slack", "markup")
	pg.sees("slack", "Some <b>HTML<")
	if eval[bool](pg, `'broken' in window || Boolean(document.querySelector('.messages script'))`) {
		t.Error("a message runs scripts")
	}
}

func TestW3_AReloadNeitherLosesNorRepeats(t *testing.T) {
	p := start(t, stage)
	pg := open(t, p, desktop)
	pg.write("telegram", "work")
	pg.sees("telegram", "Build with tests")
	pg.click("#tab-trace")
	pg.wait(`document.querySelectorAll('.entry-tool').length === 1`)
	pg.run(chromedp.Reload()) // in the middle of the run
	pg.wait(`document.documentElement.dataset.ready === 'true'`)
	pg.sees("telegram", "All built")
	pg.wait(`!/Working…|Bash:/.test(document.querySelector('.telegram .messages').textContent)`)
	const state = `JSON.stringify([...document.querySelectorAll('.messages')].map((l) => [...l.children].map((m) => m.dataset.id + m.querySelector('.rich').textContent)))`
	const trace = `JSON.stringify([...document.querySelectorAll('.trace-run .entry-title')].map((e) => e.textContent))`
	pg.click("#tab-trace")
	pg.wait(`/done/.test(document.querySelector('.trace-run h4')?.textContent)`)
	messages, entries := eval[string](pg, state), eval[string](pg, trace)
	if n := eval[int](pg, `document.querySelectorAll('.entry-tool').length`); n != 1 {
		t.Errorf("the tool stands %d times in the trace", n)
	}
	if text := eval[string](pg, `[...document.querySelectorAll('.entry-text .entry-body')].map((b) => b.textContent.slice(0, 12)).join('|')`); text != "I begin.|All **built*" {
		t.Errorf("texts of the trace: %q", text)
	}
	pg.run(chromedp.Reload())
	pg.wait(`document.documentElement.dataset.ready === 'true'`)
	pg.click("#tab-trace")
	pg.wait(`/done/.test(document.querySelector('.trace-run h4')?.textContent)`)
	pg.wait(state + ` === ` + fmt.Sprintf("%q", messages))
	pg.wait(trace + ` === ` + fmt.Sprintf("%q", entries))
}

func TestW3_TheTimelineHoldsTheIndicatorAgainstTheRun(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("telegram", "work")
	pg.wait(`/at work/.test(document.querySelector('.view-timeline .summary').textContent)`)
	pg.wait(`/Run done after .* no gap · no ghost/.test(document.querySelector('.view-timeline .summary').textContent)`)
	pg.click("#tab-calls")
	pg.wait(`document.querySelectorAll('.call .op-pulse').length > 0 && document.querySelectorAll('.call .op-edit').length > 0`)
}

func TestW3_GapsAndGhostsAreRed(t *testing.T) {
	p := start(t, stage)
	pg := open(t, p, desktop)
	world := p.World("telegram")
	pg.write("telegram", "long")
	pg.typing("telegram", true)
	remove := world.Inject(sim.Fault{Op: sim.OpPulse, Status: 500})
	pg.sees("telegram", "Wait for the tide") // the bot's own post has taken the indicator away
	pg.wait(`/1 gap/.test(document.querySelector('.view-timeline .summary').textContent)`)
	pg.wait(`[...document.querySelectorAll('.drawing rect[fill="var(--t-bad)"] title')].some((e) => /^gap/.test(e.textContent))`)
	remove()
	pg.key("telegram", "Stop")
	pg.sees("telegram", "Stopped after")
	// A pulse that the platform carries out only after the answer stands.
	world.Inject(sim.Fault{Op: sim.OpPulse, Times: 1, Delay: 2500 * time.Millisecond})
	pg.write("telegram", "quick")
	pg.sees("telegram", "Here is the answer")
	pg.wait(`/ghost of/.test(document.querySelector('.view-timeline .summary').textContent)`)
	pg.wait(`[...document.querySelectorAll('.drawing rect[fill="var(--t-bad)"] title')].some((e) => /^ghost/.test(e.textContent))`)
	pg.shot("ghost")
}

func TestW4_FaultsShowWhereTheyHappen(t *testing.T) {
	p := start(t, stage)
	pg := open(t, p, desktop)
	pg.run(chromedp.Click(in("telegram", `.bench-key[aria-haspopup]`)),
		chromedp.SetValue(`.panel .field:nth-of-type(3) select`, "always"), chromedp.Click(`.panel .primary`)) // the indicator, 429, until mended
	pg.wait(`document.querySelector('[data-platform="telegram"] .count')?.textContent === '1'`)
	pg.write("telegram", "work")
	pg.sees("telegram", "All built") // a refused indicator delays nothing (T11)
	pg.click("#tab-calls")
	pg.wait(`document.querySelector('.call.limited .op-pulse')`)
	pg.shot("faults")
	pg.run(chromedp.Click(in("telegram", `.bench-key[aria-haspopup]`)), chromedp.Click(`.panel-row .button:not(.primary)`))
	pg.wait(`document.querySelector('[data-platform="telegram"] .count').hidden`)
}

func TestW4_TheBotComesBackFromKill9(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("telegram", "long")
	pg.sees("telegram", "Wait for the tide")
	pg.click("#knobs")
	eval[bool](pg, `[...document.querySelectorAll('.knobs .button')].find((b) => b.textContent === 'Kill the bot').click() ?? true`)
	pg.wait(`/down/.test(document.querySelector('.state-words').textContent)`)
	pg.sees("telegram", "Interrupted")
	pg.shot("killed")
	pg.key("telegram", "Resume")
	pg.sees("telegram", "The end\\.")
}

func TestW4_TheBackendCanBeKilled(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	pg.write("slack", "long")
	pg.sees("slack", "Wait for the tide")
	pg.click("#knobs")
	eval[bool](pg, `[...document.querySelectorAll('.knobs .button')].find((b) => b.textContent === 'Kill the backend').click() ?? true`)
	pg.wait(`[...document.querySelectorAll('.slack .key')].some((b) => /Retry|Resume/.test(b.textContent))`)
	pg.typing("slack", false)
}
