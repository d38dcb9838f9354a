package e2e

import (
	"strings"
	"testing"
)

// TestS3_AModelsFailures: what passes is retried without a word, or with the time to wait, and what
// does not is told in a sentence; no key shows.
func TestS3_AModelsFailures(t *testing.T) {
	withModel(t, quick, func(t *testing.T, s *stage, at place, m *model) {
		at.say(t, "be limited")
		at.answer(t, at.direct, "Answer 2.")
		at.say(t, "be dropped")
		at.answer(t, at.direct, "Answer 4.")
		for _, msg := range at.platform.World().Everything(at.direct, "*") {
			if strings.Contains(msg.Text, "Answer") && strings.Contains(msg.Text, "This half") {
				t.Errorf("the half that was cut stands before its repetition: %q", msg.Text)
			}
		}
		at.say(t, "be locked")
		no := at.sees(t, at.direct, "The model refused this bot's key.")
		at.say(t, "be endless")
		long := at.sees(t, at.direct, "This conversation is too long for the model.")
		for _, msg := range []string{no.Text, long.Text} {
			if strings.Contains(msg, "sk-e2e") || strings.Contains(msg, "4096") {
				t.Errorf("%q", msg)
			}
		}
		if _, _, ok := at.labelled(at.direct, "Retry"); ok {
			t.Error("a Retry button where retrying can't help")
		}
	})
}

// TestS2_StopWhileItWaitsToRetry ends the wait at once.
func TestS2_StopWhileItWaitsToRetry(t *testing.T) {
	withModel(t, quick, func(t *testing.T, _ *stage, at place, m *model) {
		at.say(t, "be limited")
		at.sees(t, at.direct, "Trying again in")
		stopShows(t, at, at.direct, func() { at.press(t, at.direct, "Stop") })
		at.sees(t, at.direct, "Stopped after")
		at.quiet(t, 2500e6)
		if n := len(m.requests()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// TestS3_NobodyListens: a server that can't be reached.
func TestS3_NobodyListens(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  silence\n", quick, "telegram")
	s.reconfigure(t, `  main: {type: openai, baseURL: "http://127.0.0.1:1/v1", model: tiny}`, quick)
	s.start(t)
	at := s.on["telegram"]
	at.say(t, "hello")
	m := at.sees(t, at.direct, "The model could not be reached, so nothing was sent.")
	if _, ok := buttonOf(m, "Retry"); !ok {
		t.Error("no Retry button")
	}
	t.Log(transcript(at))
	s.stop(t)
}
