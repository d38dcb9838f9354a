package playground_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"typist/cmd/typist/playground"
	"typist/config"
)

// patience bounds what a test waits for.
const patience = 20 * time.Second

// The tests share one browser; each has a browser context (cookies, storage) of its own.
var browser struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

func chromium() (context.Context, error) {
	browser.once.Do(func() {
		profile, err := os.MkdirTemp("", "playground-browser-")
		if err != nil {
			browser.err = err
			return
		}
		o := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"))
		alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), o...)
		ctx, stop := chromedp.NewContext(alloc)
		browser.ctx, browser.err = ctx, chromedp.Do(ctx)
		browser.stop = func() {
			stop()
			stopAlloc()
			os.RemoveAll(profile)
		}
	})
	return browser.ctx, browser.err
}

// start runs a playground for a test. script is what its agent plays; "" = the demonstrations.
func start(t *testing.T, script string) *playground.Playground {
	t.Helper()
	o := playground.Options{Listen: "127.0.0.1:0"}
	if script != "" {
		dir := t.TempDir()
		file := filepath.Join(dir, "script.txt")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Parse(filepath.Join(dir, "typist.yaml"), []byte(stageConfig), func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		o.Config = c
	}
	p, err := playground.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return p
}

// page is an open page.
type page struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

// size is a viewport.
type size struct {
	width, height int64
	dark, mobile  bool
}

var (
	desktop = size{width: 1440, height: 900}
	phone   = size{width: 390, height: 844, mobile: true}
)

// open opens the playground's page and waits until it shows everything.
func open(t *testing.T, p *playground.Playground, s size) *page {
	t.Helper()
	parent, err := chromium()
	if err != nil {
		t.Fatal("chromium:", err)
	}
	ctx, stop := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	pg := &page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, func(ev any) {
		pg.mu.Lock()
		defer pg.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			text := ev.ExceptionDetails.Text
			if e := ev.ExceptionDetails.Exception; e != nil {
				text += " " + e.Description
			}
			pg.problems = append(pg.problems, text)
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError {
				pg.problems = append(pg.problems, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	size := chromedp.EmulateViewport(s.width, s.height)
	if s.mobile {
		size = chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	media := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	})
	pg.run(size, media, chromedp.Navigate(p.URL()))
	pg.wait(`document.documentElement.dataset.ready === 'true'`)
	t.Cleanup(func() {
		pg.mu.Lock()
		defer pg.mu.Unlock()
		if len(pg.problems) > 0 {
			t.Errorf("the page has errors:\n%s", strings.Join(pg.problems, "\n"))
		}
	})
	return pg
}

// forgive forgets the errors so far: a test has caused them.
func (p *page) forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = nil
}

func (p *page) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.shot("failed")
		p.t.Fatal(err)
	}
}

// waiting looks at an expression whenever the page has changed, and now and then.
const waiting = `new Promise((resolve, reject) => {
	const end = (f, value) => { observer.disconnect(); clearInterval(tick); clearTimeout(limit); f(value); };
	const look = () => { try { if (%s) end(resolve, true); } catch (e) { end(reject, e); } };
	const observer = new MutationObserver(look);
	const tick = setInterval(look, 100);
	const limit = setTimeout(() => end(resolve, false), %d);
	observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	look();
})`

// wait waits until an expression is true in the page.
func (p *page) wait(expr string) {
	p.t.Helper()
	p.waitFor(patience, expr)
}

func (p *page) waitFor(limit time.Duration, expr string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, limit+5*time.Second)
	defer cancel()
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(waiting, expr, limit.Milliseconds()), chromedp.EvalAwaitPromise))
	if err != nil || !ok {
		p.shot("failed")
		p.t.Fatalf("waiting for %s: %v", expr, err)
	}
}

// eval reads a value from the page.
func eval[T any](p *page, expr string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expr, err)
	}
	return value
}

// shot saves a picture of the page for people to look at.
func (p *page) shot(name string) {
	dir := os.Getenv("PLAYGROUND_SHOTS")
	if dir == "" {
		dir = p.t.ArtifactDir()
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
	if err != nil {
		p.t.Log("no picture:", err)
	}
}
