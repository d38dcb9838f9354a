package config

import (
	"flag"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

//go:generate go test -run ^TestReadme_HasEveryKey$ -args -update
var update = flag.Bool("update", false, "write the key table into the README")

const readme = "../README.md"

func readReadme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadme_HasEveryKey(t *testing.T) {
	const begin, end = "<!-- keys:begin -->\n", "<!-- keys:end -->"
	text := readReadme(t)
	head, rest, ok := strings.Cut(text, begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has lost the marks of the key table")
	}
	if old == Markdown() {
		return
	}
	if !*update {
		t.Fatal("the README's key table is not what the code says: go generate ./config")
	}
	if err := os.WriteFile(readme, []byte(head+begin+Markdown()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadme_ExamplesLoad: every YAML block that is a config file loads as it stands there.
func TestReadme_ExamplesLoad(t *testing.T) {
	loaded := 0
	for i, part := range strings.Split(readReadme(t), "```yaml\n") {
		text, _, ok := strings.Cut(part, "```")
		if i == 0 || !ok {
			continue
		}
		var top map[string]any
		if err := yaml.Unmarshal([]byte(text), &top); err != nil {
			t.Errorf("not YAML: %v\n%s", err, text)
			continue
		}
		if top["display_information"] != nil || top["groups"] != nil {
			continue // Slack's manifest, alert rules
		}
		loaded++
		everything := func(name string) (string, bool) { return "value-of-" + name, true }
		if _, err := Parse("README.md", []byte(text), everything); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if loaded < 4 {
		t.Errorf("only %d config files found", loaded)
	}
}
