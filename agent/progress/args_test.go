package progress

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestP4_Preview(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{``, ""}, {` `, ""}, {`{`, ""}, {`{}`, ""}, {`[1]`, ""}, {`"x"`, ""}, {`null`, ""}, {`}{`, ""},
		{`{"command":"ls -l","description":"List files"}`, "List files"},
		{`{"description":"List files","command":"ls"}`, "List files"},
		{`{"command":"ls","description":7}`, "ls"},
		{`{"description":["a"],"command":"ls"}`, "a"},
		{`{"command":"ls","description":""}`, "ls"},
		{`{"command":"ls","nested":{"description":"no"}}`, "ls"},
		{`{"zebra":"z","apple":"a"}`, "z"}, // the order in which it was sent
		{`{"a":""}`, ""},
		{`{"a":12.50}`, "12.50"}, {`{"a":true}`, "true"}, {`{"a":null,"b":1}`, "null"},
		{`{"a":["x",1,false,null]}`, "x, 1, false, null"},
		{`{"a":[]}`, ""},
		{`{"a":["x",{"y":1}]}`, `["x",{"y":1}]`},
		{`{"a":{"b": [1, 2],  "c":"}"}, "d":1}`, `{"b": [1, 2], "c":"}"}`},
		{`{"a":"l1\n\tl2  l3"}`, "l1 l2 l3"},
		{`{"a":"quote \" and \\ and \u00e9 and \ud83d\ude00"}`, `quote " and \ and é and 😀`},
		{`{"a":"bad \ud83d half"}`, "bad \uFFFD half"},
		{`{"a":"\u202eevil\u0007"}`, "evil"},
		{`{"a\"b":"x"}`, "x"},
		// still streaming
		{`{"comm`, ""}, {`{"command"`, ""}, {`{"command":`, ""}, {`{"command":"`, ""},
		{`{"command":"go te`, "go te"},
		{`{"command":"tab\`, "tab"}, {`{"command":"x\u00`, "x"}, {`{"command":"x\ud83d`, "x"}, {`{"command":"x\ud83d\ude`, "x"},
		{`{"command":"ls","description":"Li`, "Li"},
		{`{"command":"ls","description":`, "ls"},
		{`{"a":["x","y`, "x, y"}, {`{"a":["x",`, "x"}, {`{"a":[`, ""},
		{`{"a":{"b":[1,`, `{"b":[1,`}, {`{"a":12`, "12"}, {`{"a":tr`, "tr"},
		// secrets
		{`{"command":"curl -u joe:hunter2 https://h.example"}`, "curl -u joe:*** https://h.example"},
		{`{"token":"abc","x":1}`, "***"},
		{`{"config":{"password":"hunter2"}}`, `{"password":"***"}`},
		{`{"command":"curl -H 'Authorization: Bearer ab`, "curl -H 'Authorization: Bearer ***"},
		{`{"command":"gh auth --with ghp_` + `1`, "gh auth --with ***"},
		{`{"url":"postgres://app:hun`, "postgres://app:***"},
		{`{"url":"http://127.0.0.1:80`, "http://127.0.0.1:80"},
		// the 80 characters
		{`{"a":"` + strings.Repeat("x", 80) + `"}`, strings.Repeat("x", 80)},
		{`{"a":"` + strings.Repeat("x", 81) + `"}`, strings.Repeat("x", 79) + "…"},
		{`{"a":"` + strings.Repeat("語", 81) + `"}`, strings.Repeat("語", 79) + "…"},
		{`{"a":"` + strings.Repeat("long ", 1000) + `","description":"Short"}`, "Short"},
	} {
		if got := Preview([]byte(c.args)); got != c.want {
			t.Errorf("Preview(%.90s)\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}

func TestP4_LongArgumentsStayBounded(t *testing.T) {
	var a argScan
	a.feed(`{"content":"`)
	for range 100_000 {
		a.feed(`line after line\n`)
	}
	a.feed(`","description":"Write it"}`)
	if got := a.preview(); got != "Write it" {
		t.Errorf("preview %q", got)
	}
	if n := cap(a.raw) + cap(a.first.raw) + cap(a.desc.raw); n > 16<<10 {
		t.Errorf("%d bytes kept", n)
	}
}

func TestP4_PreviewInTheRunLine(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, called("c", "  Web\nfetch ", `{"url":"https://joe:hunter2@h.example/"}`)...)
	s.runLine("Web fetch: https://joe:***@h.example/")
	s.at(1, called("d", "", "")...)
	s.runLine("Tool")
	s.at(2, called("e", "Bash", `{"command":"*not* _markup_ [x](y) <b>"}`)...)
	for _, span := range s.View(Summary, s.now)[0].Spans {
		if span.Text == ": *not* _markup_ [x](y) <b>" && (span.Italic || span.URL != "") {
			t.Errorf("markup in %+v", span)
		}
	}
	s.runLine("Bash: *not* _markup_ [x](y) <b>")
}

// FuzzP4_Preview feeds anything, cut anywhere: no panic, one line of at most 80 graphemes, the
// same as in one piece; and a complete object previews what a JSON decoder reads.
func FuzzP4_Preview(f *testing.F) {
	for _, s := range []string{`{"a":"b"}`, `{"a":["x",1]}`, `{"a":{"b":"\u00e9`, `{"description":"\ud83d\ude00"}`, `{"a" : -1e5 , "b":[[]]}`, `{"a":"\`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		got := Preview([]byte(text))
		if uniseg.GraphemeClusterCount(got) > 80 || strings.ContainsAny(got, "\n\r\t\x00") || !utf8.ValidString(got) {
			t.Fatalf("preview %q of %q", got, text)
		}
		var a argScan
		if cut > 0 {
			for s := text; s != ""; {
				n := min(cut, len(s))
				a.feed(s[:n])
				a.preview()
				s = s[n:]
			}
			if again := a.preview(); len(text) < captureBytes && again != got {
				t.Fatalf("in pieces %q, whole %q", again, got)
			}
		}
		var one map[string]string
		if json.Unmarshal([]byte(text), &one) != nil || len(one) != 1 || len(text) > 60 || !utf8.ValidString(text) {
			return
		}
		for k, v := range one {
			if strings.Contains(text[:strings.LastIndex(text, ":")], `\`) || strings.Contains(got, "***") || k == "" {
				return
			}
			if want := clean(v); want != got && !strings.Contains(want, "***") {
				t.Fatalf("preview %q of %q, the value is %q", got, text, want)
			}
		}
	})
}
