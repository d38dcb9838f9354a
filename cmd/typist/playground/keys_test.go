package playground_test

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// keyCodes are the virtual codes of the keys in use.
var keyCodes = map[string]int64{
	"Enter": 13, "Tab": 9, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}

// press presses keys, one after the other, as a keyboard does: a key whose press the page has
// taken yields no character. (chromedp's own keys send the character as an event apart.)
func (p *page) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		code, ok := keyCodes[key]
		if !ok {
			p.t.Fatalf("unknown key %q", key)
		}
		down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: code, NativeVirtualKeyCode: code}
		if key == "Enter" {
			down.Text, down.UnmodifiedText = "\r", "\r"
		}
		up := down
		up.Type, up.Text, up.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
		p.run(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, down); err != nil {
				return err
			}
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, up)
			return err
		}))
	}
}

// types types text into what has the focus.
func (p *page) types(text string) {
	p.t.Helper()
	p.run(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// focus gives an element the focus.
func (p *page) focus(selector string) {
	p.t.Helper()
	if !eval[bool](p, fmt.Sprintf(`(() => { const e = [...document.querySelectorAll(%q)].find((e) => e.offsetParent); e?.focus(); return e === document.activeElement && Boolean(e); })()`, selector)) {
		p.t.Fatalf("%s takes no focus", selector)
	}
}

// click clicks an element that shows.
func (p *page) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}
