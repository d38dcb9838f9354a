package slack

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestC1_ReadMrkdwn(t *testing.T) {
	name := func(id string) string { return map[string]string{"U1": "Ann"}[id] }
	for _, c := range []struct {
		in, want  string
		mentioned bool
	}{
		{"plain", "plain", false},
		{"a &lt;b&gt; &amp;lt; c", "a <b> &lt; c", false},
		{"<@UBOT> hello", "hello", true},
		{"<@UBOT|typist>: hello", "hello", true},
		{"hello <@UBOT>", "hello", true},
		{"hey <@UBOT> do it", "hey do it", true},
		{"hey<@UBOT>do", "heydo", true},
		{"😀 <@UBOT> stop", "😀 stop", true},
		{"<@UBOT>", "", true},
		{"<@UBOT> <@UBOT> x", "x", true},
		{"ask <@U1> or <@U2> or <@U3|cat>", "ask @Ann or @U2 or @cat", false},
		{"in <#C1|general> or <#C2>", "in #general or #C2", false},
		{"<!channel> <!here> <!everyone> <!subteam^S1|@devs> <!subteam^S2>", "@channel @here @everyone @devs @subteam", false},
		{"<!date^1392734382^{date_num}|2014-02-18>", "2014-02-18", false},
		{"<https://example.org/>", "https://example.org/", false},
		{"<https://example.org/a|example.org/a>", "https://example.org/a", false},
		{"<https://example.org/?a=1&amp;b=2|the page>", "the page (https://example.org/?a=1&b=2)", false},
		{"<mailto:a@example.org|a@example.org>", "a@example.org", false},
		{"<mailto:a@example.org>", "a@example.org", false},
		{"<tel:+49123|+49123>", "+49123", false},
		{"unclosed <@UBOT", "unclosed <@UBOT", false},
		{"empty <> here", "empty <> here", false},
		{"*bold* _it_ `<code>`", "*bold* _it_ `code`", false},
	} {
		got, mentioned := readMrkdwn(c.in, "UBOT", name)
		if got != c.want || mentioned != c.mentioned {
			t.Errorf("%q: got %q, %t; want %q, %t", c.in, got, mentioned, c.want, c.mentioned)
		}
	}
}

func FuzzReadMrkdwn(f *testing.F) {
	for _, s := range []string{"<@UBOT> hi", "a <b|c> &lt;", "<!date^1^{x}|y>", "<<>>", "<|>", "<@>", "<#|>", "<!^>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := readMrkdwn(text, "UBOT", func(string) string { return "" })
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
		if strings.Contains(got, "<@UBOT>") && !strings.Contains(text, "&") {
			t.Errorf("%q kept the mention: %q", text, got)
		}
	})
}

// A written text comes back as it was: nothing in it is read as markup.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"<!channel>", "a & b", "&lt;", "<@U1>", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.TrimSpace(text)
		if got, _ := readMrkdwn(escape(text), "UBOT", func(string) string { return "" }); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}

func TestT8_StatusText(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "…",
		"  \n ":                   "…",
		"Working…":                "Working…",
		"a, b,c":                  "a · b ·c",
		"<!channel>":              "‹!channel›",
		strings.Repeat("é", 60):   strings.Repeat("é", 49) + "…",
		strings.Repeat("👩‍👧", 51): strings.Repeat("👩‍👧", 49) + "…",
		strings.Repeat("x", 50):   strings.Repeat("x", 50),
	} {
		if got := statusText(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}
