package openai

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"typist/agent"
)

// FuzzStream: no answer of a server makes a run panic or leave the order of events.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"<think>a</think>b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":{\"a\":1}}},{\"function\":{\"name\":\"y\",\"arguments\":\"{\"}}]}}]}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"b\",\"index\":0},{\"index\":0,\"data\":\"x\"}]},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1}}\n\n"))
	f.Add([]byte("event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":400}}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		synctest.Test(t, func(t *testing.T) { // retries wait
			terminal := 0
			b := New(Config{BaseURL: "http://model", HTTPClient: &http.Client{Transport: answering(body)}})
			agent.Drive(context.Background(), b, agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
				if agent.Terminal(ev) {
					terminal++
				}
				if f, ok := ev.(agent.RunError); ok && f.Failure.Kind == agent.Crashed {
					t.Errorf("%+v", f.Failure)
				}
			})
			if terminal != 1 {
				t.Errorf("%d terminal events", terminal)
			}
		})
	})
}

// answering is a transport whose every answer is the same body.
type answering []byte

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "text/event-stream")
	_, _ = rec.Write(a)
	return rec.Result(), nil
}
