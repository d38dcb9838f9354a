package slack

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

func TestCapabilitiesAgree(t *testing.T) {
	a, err := New(Config{BotToken: "xoxb-1", AppToken: "xapp-1"}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if err := adapters.Check(a); err != nil {
		t.Error(err)
	}
}

func TestNewRefusesWrongConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{BotToken: "xoxp-1", AppToken: "xapp-1"}, "botToken"},
		{Config{BotToken: "xoxb-1", AppToken: "xoxb-1"}, "appToken"},
		{Config{BotToken: "xoxb-1", AppToken: "xapp-1", ThreadReplies: "sometimes"}, "channels, always or never"},
		{Config{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: "localhost"}, "apiURL"},
	} {
		if _, err := New(c.cfg, Deps{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c.cfg, err)
		}
	}
}

func TestH1_Resolve(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		for _, c := range []struct {
			target string
			chat   string
			kind   adapters.Kind
		}{
			{"#general", simslack.General, adapters.Group},
			{"#General", simslack.General, adapters.Group},
			{"@ann", simslack.DM, adapters.Direct},
			{simslack.Ann, simslack.DM, adapters.Direct},
			{simslack.General, simslack.General, adapters.Group},
			{simslack.DM, simslack.DM, adapters.Direct},
		} {
			chat, kind, err := r.a.Resolve(t.Context(), c.target)
			if err != nil || chat != (adapters.Chat{Channel: "slack", ID: c.chat}) || kind != c.kind {
				t.Errorf("%s: got %+v, %s, %v", c.target, chat, kind, err)
			}
		}
		for _, target := range []string{"#nowhere", "@nobody", "C0NOWHERE", ""} {
			if _, _, err := r.a.Resolve(t.Context(), target); err == nil {
				t.Errorf("%q was found", target)
			}
		}
		r.sim.World().AddPerson(sim.Person{ID: "U0CAT", Name: "Cat", Username: "cat"})
		r.sim.World().AddChat(sim.Chat{ID: "C0CATS", Name: "cats", Members: []string{"U0CAT"}})
		if chat, kind, err := r.a.Resolve(t.Context(), "@Cat"); err != nil || kind != adapters.Direct || chat.ID == "" {
			t.Errorf("a person without a direct chat so far: %+v, %s, %v", chat, kind, err)
		}
	})
}

func TestO4_Probe(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		found, err := r.a.Probe(t.Context())
		if err != nil || found != "bot @typist in Miniature, Socket Mode on" {
			t.Errorf("got %q, %v", found, err)
		}
	})
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{Scopes: []string{"chat:write"}}, func(c *Config) {})
		if found, err := r.a.Probe(t.Context()); err != nil || !strings.Contains(found, "scopes missing: app_mentions:read, channels:history") {
			t.Errorf("got %q, %v", found, err)
		}
	})
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{}, func(c *Config) { c.AppToken = "xapp-wrong" })
		var fatal *adapters.FatalError
		if _, err := r.a.Probe(t.Context()); !errors.As(err, &fatal) || !strings.Contains(fatal.Sentence, "connections:write") {
			t.Errorf("got %v", err)
		}
	})
}

// The names of people and channels are asked for once, and an event does not wait long for them.
func TestC3_NamesDoNotHoldEventsUp(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.sim.World().Inject(sim.Fault{Op: sim.OpOther, Delay: time.Minute})
		start := time.Now()
		if _, err := r.sim.Say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "hi @bob"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		m := one[adapters.Message](r)
		if m.Text != "hi @"+simslack.Bob || m.From.ID != simslack.Ann || m.From.Name != "" {
			t.Errorf("got %+v", m)
		}
		for _, c := range r.sim.World().Calls(sim.OpAck) {
			if c.Error != "" || c.Took > 2*time.Second {
				t.Errorf("acknowledgement: %+v, %s after the start", c, time.Since(start))
			}
		}
	})
}

func TestP13_FitStaysWithinWhatSlackTakes(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoLimits: true})
		r.run()
		buttons := [][]adapters.Button{{{Text: "Stop", Data: strings.Repeat("x", 64)}, {Text: "Details", Data: strings.Repeat("y", 64)}, {Text: "◀ 2/3 ▶", Data: strings.Repeat("z", 64)}}}
		for name, markdown := range map[string]string{
			"paragraphs": strings.Repeat("Some words that make a line of an answer. ", 900),
			"many":       strings.Repeat("a **b** *c* `d` [e](https://example.org/e) ", 700),
			"code":       "```go\n" + strings.Repeat("x := \"<&>\" // 😀\n", 1500) + "```\n",
			"rules":      strings.Repeat("a\n\n---\n\n", 150),
			"list":       strings.Repeat("- item with some text\n  - nested item\n", 500),
			"table":      "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| one | two | three |\n", 900),
			"tables":     strings.Repeat("| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n\n", 60),
			"quotes":     strings.Repeat("> quoted text of some length\n\nand text\n\n", 300),
			"chinese":    strings.Repeat("这是一个很长的回答。", 3000),
			"emoji":      strings.Repeat("👩‍👩‍👧‍👦", 3000),
			"everything": strings.Repeat(everyForm+"\n", 40),
		} {
			doc := rich.Parse(markdown)
			parts := r.a.Fit(doc)
			if len(parts) < 2 {
				t.Errorf("%s: %d part", name, len(parts))
			}
			for i, part := range parts {
				if n := measure(part); n > maxBlocksSize {
					t.Errorf("%s: part %d measures %d", name, i, n)
				}
				if _, err := r.a.Send(t.Context(), direct, adapters.Post{Doc: part, Buttons: buttons, Key: fmt.Sprintf("k-%d", i)}); err != nil {
					t.Errorf("%s: part %d: %v", name, i, err)
				}
			}
		}
		if strings.Contains(r.logs.String(), "plainer") {
			t.Errorf("something was refused in its richest form:\n%.2000s", r.logs)
		}
	})
}

// A measure that shrank while the document grows would mislead the splitter.
func TestP13_MeasureOnlyGrows(t *testing.T) {
	doc := rich.Parse("| a | b | c |\n|---|---|---|\n" + strings.Repeat("| one | two | three |\n", 150))
	table := doc[0]
	before := 0
	for n := 1; n <= len(table.Rows); n++ {
		cut := table
		cut.Rows = table.Rows[:n]
		for _, d := range []rich.Doc{{cut}, {cut, rich.Plain("x")[0]}} {
			size := measure(d)
			if size < before {
				t.Fatalf("%d rows, %d blocks: %d after %d", n, len(d), size, before)
			}
		}
		before = measure(rich.Doc{cut})
	}
}

func TestP13_Fallback(t *testing.T) {
	for _, c := range []struct{ markdown, want string }{
		{"", "…"},
		{"a < b & **c**", "a &lt; b &amp; c"},
		{"<!channel>", "&lt;!channel&gt;"},
	} {
		if got := fallback(rich.Parse(c.markdown)); got != c.want {
			t.Errorf("%q: got %q", c.markdown, got)
		}
	}
	for _, text := range []string{strings.Repeat("&", 2000), strings.Repeat("é<", 2000), strings.Repeat("😀", 2000)} {
		for shift := range 6 {
			got := fallback(rich.Plain(strings.Repeat("x", shift) + text))
			body := strings.TrimSuffix(got, "…")
			if len(got) > maxFallback || body == got || strings.ToValidUTF8(got, "?") != got {
				t.Fatalf("%d bytes: …%q", len(got), got[len(got)-20:])
			}
			if amp := strings.LastIndexByte(body, '&'); amp >= 0 && !strings.Contains(body[amp:], ";") {
				t.Fatalf("cut within an escape: …%q", body[len(body)-10:])
			}
		}
	}
}
