package progress

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"typist/agent"
)

// texts are all texts of a table by the place they stand at.
func texts(v reflect.Value, at string, to map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), at+"."+v.Type().Field(i).Name, to)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(v.MapIndex(k), at+"."+k.String(), to)
		}
	case reflect.String:
		to[at] = v.String()
	default:
		panic("a table holds texts only: " + at)
	}
}

func tableTexts(l Lang) map[string]string {
	m := map[string]string{}
	texts(reflect.ValueOf(*Words(l)), "", m)
	return m
}

var place = regexp.MustCompile(`\{[a-z]+\}`)

func places(s string) string {
	p := place.FindAllString(s, -1)
	slices.Sort(p)
	return strings.Join(slices.Compact(p), "")
}

func TestP15_EveryLanguageIsComplete(t *testing.T) {
	en := tableTexts(English)
	for _, l := range Langs() {
		other := tableTexts(l)
		for at, text := range en {
			got, ok := other[at]
			if !ok {
				t.Errorf("%s lacks %s", l, at)
				continue
			}
			switch {
			case strings.HasSuffix(at, ".One"): // some languages have no singular
				continue
			case got == "" && at != ".units.Joint":
				t.Errorf("%s: %s is empty", l, at)
			case places(got) != places(text):
				t.Errorf("%s: %s has the places %s, English has %s", l, at, places(got), places(text))
			case strings.TrimSpace(got) != got && at != ".units.Joint":
				t.Errorf("%s: %s begins or ends blank", l, at)
			}
		}
		if len(other) != len(en) {
			t.Errorf("%s has %d texts, English %d", l, len(other), len(en))
		}
		for _, kind := range []agent.FailureKind{agent.NeverSent, agent.CutEarly, agent.ServerError, agent.Overloaded, agent.RateLimited, agent.Unauthorized, agent.NotFound,
			agent.TooLong, agent.Invalid, agent.Malformed, agent.TimedOut, agent.Crashed} {
			if Words(l).failures[kind] == "" {
				t.Errorf("%s has no sentence for %s", l, kind)
			}
		}
		for _, c := range Commands() {
			if d := Words(l).Command(c); d == "" || len([]rune(d)) > 100 { // Discord's limit
				t.Errorf("%s: /%s is described by %q", l, c, d)
			}
		}
		if len(Words(l).commands) != len(Commands()) {
			t.Errorf("%s describes commands that do not exist", l)
		}
	}
}

func TestP15_LanguagesDiffer(t *testing.T) {
	// The same word in both languages, or a symbol.
	same := map[string]bool{"de/ja .units.Under": true, "en/de .units.Joint": true, "en/zh .units.Joint": true, "de/zh .units.Joint": true, "ja/zh .Stop": true}
	for i, a := range Langs() {
		for _, b := range Langs()[i+1:] {
			one, two := tableTexts(a), tableTexts(b)
			for at, text := range one {
				if text != "" && text == two[at] && !same[fmt.Sprintf("%s/%s %s", a, b, at)] {
					t.Errorf("%s is %q in %s and in %s", at, text, a, b)
				}
			}
		}
	}
}

func TestP15_ScriptsAreRight(t *testing.T) {
	has := func(s string, table *unicode.RangeTable) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(table, r) })
	}
	for at, text := range tableTexts(Chinese) {
		if has(text, unicode.Hiragana) || has(text, unicode.Katakana) {
			t.Errorf("kana in the Chinese %s: %q", at, text)
		}
	}
	for _, l := range []Lang{English, German} {
		for at, text := range tableTexts(l) {
			if has(text, unicode.Han) || has(text, unicode.Hiragana) {
				t.Errorf("%s: %s is %q", l, at, text)
			}
		}
	}
}

// TestP15_English holds the words that SPEC and DESIGN promise.
func TestP15_English(t *testing.T) {
	w := Words("")
	for want, got := range map[string]string{
		"Working…": w.Working, "Thinking… (10s)": w.ThinkingFor(10500 * time.Millisecond), "Thinking…": w.ThinkingFor(500 * time.Millisecond),
		"Thought for 12s": w.ThoughtFor(12 * time.Second), "Thought": w.Thought, "Stopping…": w.Stopping, "Stopped after 12s": w.Stopped(12 * time.Second),
		"Interrupted": w.Interrupted, "Worked for 42s · 7 steps": w.WorkedFor(42*time.Second, 7), "Worked for 42s · 1 step": w.WorkedFor(42*time.Second, 1),
		"Stop": w.Stop, "Resume": w.Resume, "Retry": w.Retry, "Details": w.Details, "Approve": w.Approve, "Deny": w.Deny,
		"2 waiting messages dropped.": w.StoppedDropped(2), "1 waiting message dropped.": w.StoppedDropped(1),
		"Typing: instant (from this chat), renewed every 4.5 s (from the default)": w.TypingIs("instant", "chat", 4500*time.Millisecond, "default"),
		"“x y” is not possible here. Allowed: overview, summary":                   w.BadValue(" x\ny ", "overview", "summary"),
		"view in this chat: detail":                                                w.SettingSet("view", "detail"),
		"The model could not be reached, so nothing was sent. Press Retry in a moment. If it stays like this, its server or the network is down.": w.Failure(&agent.Failure{Kind: agent.NeverSent}),
		"The model's server failed (HTTP 502). Press Retry in a moment. If it stays like this, whoever runs the bot has to look at that server.":  w.Failure(&agent.Failure{Kind: agent.ServerError, Status: 502}),
		"The model's server failed. Press Retry in 20s. If it stays like this, whoever runs the bot has to look at that server.":                  w.Failure(&agent.Failure{Kind: agent.ServerError, RetryAfter: 20 * time.Second}),
		"Something went wrong. Press Retry in 1m 30s.":   w.Failure(&agent.Failure{Kind: "new", RetryAfter: 90 * time.Second}),
		"Something went wrong. Press Retry in a moment.": w.Failure(nil),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !strings.Contains(w.NothingRuns, "othing runs") {
		t.Errorf("got %q", w.NothingRuns)
	}
}

// TestP15_NothingIsLeftToFillIn calls every method with values and looks for places left open.
func TestP15_NothingIsLeftToFillIn(t *testing.T) {
	for _, l := range Langs() {
		v := reflect.ValueOf(Words(l))
		for i := range v.NumMethod() {
			m, name := v.Method(i), v.Type().Method(i).Name
			for _, n := range []int64{0, 1, 7} {
				var in []reflect.Value
				for j := range m.Type().NumIn() {
					p := m.Type().In(j)
					if m.Type().IsVariadic() && j == m.Type().NumIn()-1 {
						continue
					}
					x := reflect.New(p).Elem()
					switch p.Kind() {
					case reflect.String:
						x.SetString("help")
					case reflect.Int, reflect.Int64:
						x.SetInt(n)
						if p == reflect.TypeFor[time.Duration]() {
							x.SetInt(n * 1e9)
						}
					}
					in = append(in, x)
				}
				if got := m.Call(in)[0].String(); got == "" || strings.ContainsAny(got, "{}") {
					t.Errorf("%s: %s(%v) = %q", l, name, n, got)
				}
			}
		}
	}
}

func TestP15_Durations(t *testing.T) {
	for _, c := range []struct {
		d              time.Duration
		en, de, ja, zh string
	}{
		{999 * time.Millisecond, "<1s", "<1 s", "1秒未満", "不到 1 秒"},
		{-time.Second, "<1s", "<1 s", "1秒未満", "不到 1 秒"},
		{12900 * time.Millisecond, "12s", "12 s", "12秒", "12 秒"},
		{65 * time.Second, "1m 5s", "1 min 5 s", "1分5秒", "1 分 5 秒"},
		{3605 * time.Second, "1h 0m 5s", "1 h 0 min 5 s", "1時間0分5秒", "1 小时 0 分 5 秒"},
	} {
		for l, want := range map[Lang]string{English: c.en, German: c.de, Japanese: c.ja, Chinese: c.zh} {
			if got := Words(l).Duration(c.d); got != want {
				t.Errorf("%s: %s is %q, want %q", l, c.d, got, want)
			}
		}
	}
}

func TestP15_ViewsSpeakTheLanguage(t *testing.T) {
	en := tableTexts(English)
	for _, l := range Langs()[1:] {
		s := busy(t, Options{Lang: l})
		for _, lines := range [][]string{s.lines(Detail), linesOf(s.Trace(s.now)), linesOf(s.Ended(End{Kind: EndStopped}, Summary, s.now)), {s.Status(s.now)}} {
			for _, line := range lines {
				for _, word := range []string{".Working", ".Thinking", ".Thought", ".Stopping", ".Interrupted", ".Tool", ".Subagent"} {
					if strings.HasPrefix(line, strings.TrimSuffix(en[word], "…")) {
						t.Errorf("%s: English in %q", l, line)
					}
				}
			}
		}
	}
}
