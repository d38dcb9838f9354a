package rich_test

import (
	"strings"
	"testing"
	"time"

	"typist/adapters/rich"
)

// hostile are patterns over which parsers of Markdown take quadratic time, or recurse deeply.
var hostile = map[string]func(n int) string{
	"quotes":            rep(">"),
	"quotes, spaced":    rep("> "),
	"quote lines":       func(n int) string { return strings.Repeat(strings.Repeat(">", 200)+" a\n", n/203) },
	"quote staircase":   func(n int) string { return stairs(n, ">") },
	"brackets":          rep("["),
	"closing brackets":  rep("]"),
	"bracket pairs":     rep("[]"),
	"nested brackets":   func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
	"nested links":      func(n int) string { return strings.Repeat("[", n/5) + strings.Repeat("](a)", n/5) },
	"open links":        rep("[a]("),
	"open links, angle": rep("[a](<b"),
	"open link titles":  rep(`[a](b "`),
	"links":             rep("[a](https://b.c)"),
	"references":        rep("[a][b]"),
	"definitions":       rep("[a]: b\n"),
	"definitions, used": func(n int) string { return strings.Repeat("[a]: b\n", n/14) + "\n" + strings.Repeat("[a] [b]", n/14) },
	"open definitions":  rep("[a]: <b\n"),
	"definition titles": rep("[a]: b 'c\n"),
	"images":            rep("!["),
	"image links":       rep("![a](b"),
	"emphasis":          rep("*a **a "),
	"emphasis, mixed":   rep("*a _a "),
	"emphasis, closing": rep("a** b* "),
	"nested emphasis":   func(n int) string { return strings.Repeat("*a ", n/6) + strings.Repeat(" a*", n/6) },
	"nested strong":     func(n int) string { return strings.Repeat("**a ", n/8) + strings.Repeat(" a**", n/8) },
	"asterisks":         rep("*"),
	"asterisks in text": func(n int) string { return "a" + strings.Repeat("*", n) + "b" },
	"triple":            rep("***a* b_"),
	"underscores":       rep("_"),
	"underscore words":  rep("_a __a "),
	"snake":             rep("a_"),
	"cjk emphasis":      rep("は**「"),
	"backticks":         rep("`"),
	"backtick runs":     func(n int) string { return stairs(n, "`") },
	"backtick words":    rep("`a ``b "),
	"angles":            rep("<"),
	"open tags":         rep("<a "),
	"open attributes":   rep("<a b='"),
	"comments":          rep("<!-- "),
	"comments in text":  rep("a<!-- "),
	"instructions":      rep("a<?"),
	"declarations":      rep("a<!A "),
	"cdata":             rep("a<![CDATA["),
	"tags":              rep("a<b>"),
	"html blocks":       rep("<div>\n\n"),
	"nested lists":      func(n int) string { return stairsOf(n, "  ", "- a") },
	"lists in a line":   rep("- "),
	"numbers in a line": rep("1. "),
	"lists and quotes":  rep("- > "),
	"list lines":        rep("- a\n"),
	"loose list":        rep("- a\n\n"),
	"list of blanks":    func(n int) string { return "- a\n" + strings.Repeat("\n", n) + "  b" },
	"pluses":            rep("+ "),
	"tasks":             rep("- [ ] "),
	"pipes":             rep("|"),
	"table":             func(n int) string { return "|a|b|\n|-|-|\n" + strings.Repeat("|a|b|\n", n/6) },
	"wide table":        func(n int) string { return strings.Repeat("|a", n/4) + "\n" + strings.Repeat("|-", n/4) + "\n|b|" },
	"table, short rows": func(n int) string {
		return strings.Repeat("|a", n/8) + "\n" + strings.Repeat("|-", n/8) + strings.Repeat("\na", n/4)
	},
	"table heads":       rep("a|b\n-|-\n"),
	"pipe lines":        rep("|a|\n"),
	"backslashes":       rep(`\`),
	"escapes":           rep(`\*`),
	"strikes":           rep("~~"),
	"strike words":      rep("~~a "),
	"tildes":            rep("~"),
	"tilde words":       rep("~a "),
	"ampersands":        rep("&"),
	"entities":          rep("&amp;"),
	"open entities":     rep("&amp"),
	"autolinks":         rep("<https://a.b> "),
	"bare links":        rep("https://a.b "),
	"bare links, glued": rep("https://a.b"),
	"bare brackets":     func(n int) string { return "https://a.b/" + strings.Repeat(")", n) },
	"bare open":         func(n int) string { return "https://a.b/" + strings.Repeat("(", n/2) + strings.Repeat(")", n/2) },
	"www":               rep("www."),
	"mails":             rep("a@b.c "),
	"mails, glued":      rep("a@"),
	"mail dots":         rep("a.b"),
	"dashes":            rep("-"),
	"rules":             rep("---\n"),
	"headings":          rep("# "),
	"heading lines":     rep("# a\n"),
	"underlined":        rep("a\n=\n"),
	"long paragraph":    rep("a\n"),
	"hard breaks":       rep("a  \n"),
	"spaces":            rep(" "),
	"inner spaces":      func(n int) string { return "a" + strings.Repeat(" ", n) + "b" },
	"tabs":              rep("\t"),
	"blank lines":       rep("\n"),
	"fences":            rep("```\n"),
	"open fences":       rep("~~~ a\n"),
	"indented":          rep("    a\n\n"),
	"exclamations":      rep("!"),
	"combining":         func(n int) string { return "a" + strings.Repeat("\u0301", n/2) },
	"family":            rep("👨\u200d"),
	"flags":             rep("🇩"),
	"invalid":           rep("\xff"),
	"everything":        rep("> - *a [b](c `d` <e> ~~f | &amp; ![g\n"),
}

func rep(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1) }
}

// stairs are runs of s that grow by one.
func stairs(n int, s string) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(s, i) + " ")
	}
	return b.String()
}

// stairsOf are lines that are indented one step more each.
func stairsOf(n int, indent, line string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(indent, i) + line + "\n")
	}
	return b.String()
}

// hostileBudget is what 200 kB may take. Where a machine is too slow or too busy for that, ten
// times the text must at least take nothing like a hundred times as long.
const (
	hostileBudget = 200 * time.Millisecond
	hostileGrowth = 40
)

// fastest is the shortest of a few tries: others use the processors too.
func fastest(f func()) time.Duration {
	best := time.Hour
	for range 4 {
		began := time.Now()
		f()
		if best = min(best, time.Since(began)); best < hostileBudget {
			break
		}
	}
	return best
}

func TestP13_HostileTextCostsLittle(t *testing.T) {
	measure := func(d rich.Doc) int { return rich.UTF16Len(rich.Text(d)) }
	for name, make := range hostile {
		parse := func(size int) (doc rich.Doc, took time.Duration) {
			text := make(size)
			took = fastest(func() { doc = rich.Parse(text) })
			return doc, took
		}
		split := func(doc rich.Doc) time.Duration { return fastest(func() { rich.Split(doc, 4096, measure) }) }
		_, took := parse(200_000)
		if took > hostileBudget {
			if _, less := parse(20_000); took > hostileGrowth*less {
				t.Errorf("%s: parsing took %s, a tenth of it %s", name, took, less)
				continue
			}
		}
		doc, _ := parse(50_000)
		if took := split(doc); took > hostileBudget {
			doc, _ := parse(200_000)
			took = split(doc)
			doc, _ = parse(20_000)
			if less := split(doc); took > hostileGrowth*less {
				t.Errorf("%s: splitting took %s, a tenth of it %s", name, took, less)
			}
		}
	}
}

// TestP13_HostileTextIsKept: of what is not read as markup nothing is lost.
func TestP13_HostileTextIsKept(t *testing.T) {
	for _, name := range []string{"quotes", "open links", "image links", "nested brackets", "emphasis", "pluses", "angles"} {
		text := hostile[name](20_000)
		if got := rich.Text(rich.Parse(text)); len(strings.ReplaceAll(got, " ", "")) < len(strings.ReplaceAll(text, " ", ""))*9/10 {
			t.Errorf("%s: %d of %d bytes are left", name, len(got), len(text))
		}
	}
	const before, after = "**one** [a](https://b.c)\n\n", "\n\n- two\n\n```go\nx[1]\n```\n"
	doc := rich.Parse(before + hostile["open links"](20_000) + after)
	if len(doc) != 4 || !doc[0].Spans[0].Bold || doc[2].Kind != rich.List || doc[3].Kind != rich.Code {
		t.Errorf("the text around it is %d blocks: %.300v", len(doc), doc)
	}
}

// TestP13_OrdinaryTextIsNotHostile, however much of it there is.
func TestP13_OrdinaryTextIsNotHostile(t *testing.T) {
	paragraph := strings.Repeat("Some **bold** words, a [link](https://example.com/a_b), `code` and _more_ of them. ", 8) + "\n\n"
	table := "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| **x** | `y` | [z](https://example.com) |\n", 400) + "\n"
	list := strings.Repeat("- **x**: `y` [z](https://example.com)\n  - deeper _still_\n    - and *once* more\n", 300) + "\n"
	doc := rich.Parse(strings.Repeat(paragraph, 100) + table + list)
	if len(doc) != 102 || doc[100].Kind != rich.Table || doc[101].Kind != rich.List || len(doc[100].Rows) != 401 {
		t.Fatalf("%d blocks", len(doc))
	}
	for i, b := range doc[:100] {
		if len(b.Spans) < 60 {
			t.Errorf("paragraph %d has %d spans", i, len(b.Spans))
		}
	}
	if cell := doc[100].Rows[400][0]; !cell[0].Bold {
		t.Errorf("the last row: %+v", cell)
	}
	if item := doc[101].Items[299][0]; !item.Spans[0].Bold {
		t.Errorf("the last item: %+v", item)
	}
}
