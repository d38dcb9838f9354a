package backendtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/anthropic"
	"typist/agent/backend/backendtest"
	"typist/agent/backend/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestA2_AServerThatIsNotOurs runs the native backends against aimock.
func TestA2_AServerThatIsNotOurs(t *testing.T) {
	backends := map[string]func(url string, client *http.Client) agent.Backend{
		"openai": func(url string, client *http.Client) agent.Backend {
			return openai.New(openai.Config{BaseURL: url + "/v1", APIKey: "key", Model: "gpt-test", HTTPClient: client})
		},
		"anthropic": func(url string, client *http.Client) agent.Backend {
			return anthropic.New(anthropic.Config{BaseURL: url, APIKey: "key", Model: "claude-test", HTTPClient: client})
		},
	}
	for name, make := range backends {
		t.Run(name, func(t *testing.T) {
			url := backendtest.Aimock(t, "testdata/aimock.json")
			b := make(url, backendtest.Client(t))
			run := func(text string) []string {
				req := agent.Request{History: []agent.Message{agent.UserText(text)}, Tools: backendtest.Echo{}}
				return withoutUsage(backendtest.SortResults(backendtest.Run(context.Background(), b, req)))
			}
			t.Run("streams", func(t *testing.T) {
				backendtest.Want(t, run("hello"), "text Hello! I am a mock, and I stream.", "text.", "success")
			})
			t.Run("slow tokens after a thought", func(t *testing.T) {
				began, first := time.Now(), time.Duration(0)
				agent.Drive(context.Background(), b, agent.Request{History: []agent.Message{agent.UserText("slowly")}}, func(ev agent.Event) {
					if _, ok := ev.(agent.ReasoningContent); ok && first == 0 {
						first = time.Since(began)
					}
				})
				if whole := time.Since(began); first == 0 || whole-first < 100*time.Millisecond {
					t.Errorf("first piece after %v of %v: it was not passed on as it came", first, whole)
				}
			})
			t.Run("parallel tool calls", func(t *testing.T) {
				backendtest.Want(t, run("weather"), "text I look it up.", "call c1 Bash", `args c1 {"city":"Oslo"}`, "call c2 Bash", `args c2 {"city":"Lisbon"}`, "text.",
					`result c1 ran {"city":"Oslo"}`, `result c2 ran {"city":"Lisbon"}`, "text Rain in Oslo, sun in Lisbon.", "text.", "success")
			})
			t.Run("cut in mid-text, asked again", func(t *testing.T) {
				got := run("cut")
				if n := len(got); n < 3 || got[n-2] != "text." || got[n-3] != "text This answer is whole." || got[n-1] != "success" {
					t.Errorf("%s", strings.Join(got, "\n"))
				}
			})
			t.Run("429, then 500, then an answer", func(t *testing.T) {
				began := time.Now()
				backendtest.Want(t, run("busy"), "text Now there is time.", "text.", "success")
				if d := time.Since(began); d < 2*time.Second { // Retry-After: 1, then the second backoff
					t.Errorf("only %v: it did not wait as told", d)
				}
			})
			t.Run("refusals", func(t *testing.T) {
				for text, want := range map[string]string{
					"too long": "failed: too_long (HTTP 400): This model's maximum context length is 8192 tokens.",
					"key":      "failed: unauthorized (HTTP 401): Incorrect API key provided",
				} {
					backendtest.Want(t, run(text), want)
				}
			})
			t.Run("stop", func(t *testing.T) {
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				began := time.Now()
				var last agent.Event
				agent.Drive(ctx, b, agent.Request{History: []agent.Message{agent.UserText("forever")}}, func(ev agent.Event) {
					if _, ok := ev.(agent.TextContent); ok {
						stop()
					}
					last = ev
				})
				if f, ok := last.(agent.RunFinished); !ok || f.Outcome != agent.Cancelled || time.Since(began) > 5*time.Second {
					t.Errorf("%+v after %v", last, time.Since(began))
				}
			})
		})
	}
}

func withoutUsage(events []string) []string {
	var out []string
	for _, s := range events {
		if !strings.HasPrefix(s, "usage ") {
			out = append(out, s)
		}
	}
	return out
}
