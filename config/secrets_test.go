package config

import (
	"slices"
	"strings"
	"testing"
)

func TestLoad_NoSecretInAnyError(t *testing.T) {
	const secret = "7654321:AAF-secret-of-a-bot-0123456789abc"
	for _, text := range []string{
		`channels: {telegram: {botToken: [` + secret + `]}}`,
		`channels: {telegram: {"` + secret + `": x}}`,
		`"` + secret + `": x`,
		"{\"" + secret + "\": x, \"" + secret + "\": y}",
		`session: {typingMode: "` + secret + `"}`,
		`session: {typingMode: "${TOKEN}"}`,
		`session: {typingIntervalSeconds: "${TOKEN}"}`,
		`agents: {defaults: {heartbeat: {every: "${TOKEN}"}}}`,
		`agents: {defaults: {backend: "` + secret + `"}}`,
		`agents: {list: {"` + secret + `": {}}}`,
		`store: {url: "postgres://u:` + secret + `@h/d"}`,
		`store: {url: "${TOKEN}"}`,
		`http: {listen: "${TOKEN}"}`,
		`channels: {telegram: {botToken: x, apiURL: "` + secret + `"}}`,
		`channels: {telegram: {botToken: "${` + secret + `}"}}`,
		`backends: {a: {type: "` + secret + `"}}`,
		"channels: {telegram: {botToken: " + secret + "]}",
		`silentTokens: ` + secret,
		`silentTokens: *` + secret,
	} {
		_, err := Parse("typist.yaml", []byte(text), env("TOKEN", secret))
		if err == nil {
			t.Errorf("%s: no error", text)
		} else if strings.Contains(err.Error(), "secret-of") {
			t.Errorf("the secret stands in: %v", err)
		}
	}
}

func TestLoad_SecretsAreKnown(t *testing.T) {
	c := load(t, `
http: {token: http-token}
backends: {a: {type: openai, model: m, apiKey: key-1, baseURL: "http://u:pass-1@h/", headers: {X-Title: typist, Authorization: Bearer 1, X-Env: "${E}"}}}
mcpServers: {m: {command: [x], env: {PATH: /bin, API_TOKEN: tok-1}}}
channels: {slack: {botToken: bot-1, appToken: app-1}}
`, "E", "from-env")
	got := c.Secrets()
	slices.Sort(got)
	want := []string{"Bearer 1", "app-1", "bot-1", "from-env", "http-token", "key-1", "pass-1", "tok-1"}
	if !slices.Equal(got, want) {
		t.Errorf("secrets = %q\nwant %q", got, want)
	}
}

func TestExpand(t *testing.T) {
	e := env("A", "1", "B_2", "two", "EMPTY", "")
	for _, test := range []struct{ in, want, err string }{
		{in: "", want: ""},
		{in: "${A}", want: "1"},
		{in: "x${A}y${B_2}z", want: "x1ytwoz"},
		{in: "${EMPTY}", want: ""},
		{in: "$A $ $$ {A}", want: "$A $ $$ {A}"},
		{in: "$${A}", want: "${A}"},
		{in: "$$${A}", want: "$${A}"},
		{in: "costs $5 $${", want: "costs $5 ${"},
		{in: "${NO}", err: "environment variable NO is not set"},
		{in: "${NO}${NEIN}", err: "environment variables NO, NEIN are not set"},
		{in: "${A", err: "${ without }"},
		{in: "${}", err: "name of an environment variable"},
		{in: "${A:-x}", err: "name of an environment variable"},
		{in: "${1A}", err: "name of an environment variable"},
	} {
		got, _, err := expand(test.in, e)
		if test.err == "" && (err != nil || got != test.want) {
			t.Errorf("expand(%q) = %q, %v, want %q", test.in, got, err, test.want)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("expand(%q): error %v, want %s", test.in, err, test.err)
		}
	}
	// A value is not expanded again.
	if got, _, err := expand("${A}", env("A", "${B}")); err != nil || got != "${B}" {
		t.Errorf("expand of a value = %q, %v", got, err)
	}
}
