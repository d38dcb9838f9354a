package playground_test

import "testing"

func TestW1_MessagesGoThroughAnAllowList(t *testing.T) {
	pg := open(t, start(t, stage), desktop)
	for html, want := range map[string]string{
		`<p>a <b>b</b> <script>window.broken = 1</script>c</p>`:                          `<p>a <b>b</b> c</p>`,
		`<img src=x onerror="window.broken = 1"><i onclick="x()">i</i>`:                  `<i>i</i>`,
		`<a href="javascript:x()">j</a><a href="https://example.org/" onclick=x>l</a>`:   `<a>j</a><a href="https://example.org/" target="_blank" rel="noopener noreferrer">l</a>`,
		`<form action="/x"><button>k</button></form><style>*{}</style><iframe></iframe>`: `k`,
		`<ol start="3"><li>three</li></ol><svg><circle/></svg>`:                          `<ol start="3"><li>three</li></ol>`,
	} {
		got := eval[string](pg, `import('/js/lib/sanitize.js').then((m) => { const box = document.createElement('div'); box.append(m.sanitized(`+"`"+html+"`"+`)); document.body.append(box); const out = box.innerHTML; box.remove(); return out; })`)
		if got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", html, got, want)
		}
	}
	if eval[bool](pg, `'broken' in window`) {
		t.Error("something ran")
	}
	pg.forgive() // the page's policy has refused what the texts tried, which the browser reports
}
