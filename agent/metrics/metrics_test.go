package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/typing"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("scrape: %d", w.Code)
	}
	return w.Body.String()
}

func exercise(m *Metrics) {
	m.ChannelUp("slack", true)
	m.ChannelUp("discord", false)
	m.QueueDepth(3)
	m.RunStarted("slack")
	m.RunStarted("slack")
	m.RunEnded("slack", "stopped")
	m.Undelivered("slack")
	m.Stopped("slack", time.Second)
	m.Limited("slack", 2500*time.Millisecond)
	m.Call("slack", "edit", nil, time.Millisecond)
	m.EditCoalesced("slack")
	m.EditDropped("slack")
	m.EditLag("slack", time.Second)
	m.Pulse("slack", typing.OK)
	m.FirstPulse("slack", time.Millisecond)
	m.IndicatorStarted("slack")
	m.IndicatorStarted("slack")
	m.IndicatorEnded("slack", 10*time.Second, 9*time.Second, time.Second)
	m.OnScrape(func(context.Context) { m.QueueDepth(4) })
}

func TestO2_EveryMetricIsServed(t *testing.T) {
	m := New("v1")
	exercise(m)
	got := scrape(t, m)
	for _, want := range []string{
		`typist_indicator_pulses_total{channel="slack",result="ok"} 1`,
		`typist_indicators_active{channel="slack"} 1`,
		`typist_first_pulse_seconds_bucket{channel="slack",le="0.001"} 1`,
		`typist_indicator_required_seconds_total{channel="slack"} 10`,
		`typist_indicator_covered_seconds_total{channel="slack"} 9`,
		`typist_indicator_ghost_seconds_total{channel="slack"} 1`,
		`typist_calls_total{channel="slack",op="edit",result="ok"} 1`,
		`typist_call_seconds_count{channel="slack",op="edit"} 1`,
		`typist_edits_coalesced_total{channel="slack"} 1`,
		`typist_edits_dropped_total{channel="slack"} 1`,
		`typist_edit_lag_seconds_count{channel="slack"} 1`,
		`typist_rate_limited_total{channel="slack"} 1`,
		`typist_rate_limited_seconds_total{channel="slack"} 2.5`,
		`typist_turns_total{channel="slack",outcome="stopped"} 1`,
		`typist_runs_active{channel="slack"} 1`,
		`typist_answers_undelivered_total{channel="slack"} 1`,
		`typist_stop_seconds_count{channel="slack"} 1`,
		`typist_queue_depth 4`,
		`typist_channel_up{channel="slack"} 1`,
		`typist_channel_up{channel="discord"} 0`,
		`typist_info{version="v1"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %s", want)
		}
	}
}

func TestO2_NilMeasuresNothing(t *testing.T) {
	exercise(nil)
	w := httptest.NewRecorder()
	(*Metrics)(nil).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}

func TestO2_ResultsOfCalls(t *testing.T) {
	for want, err := range map[string]error{
		"ok":              nil,
		"limited":         fmt.Errorf("x: %w", &adapters.RateLimitError{RetryAfter: time.Second}),
		"gone":            fmt.Errorf("x: %w", adapters.ErrGone),
		"too_old":         adapters.ErrTooOld,
		"denied":          adapters.ErrDenied,
		"never_sent":      adapters.ErrNeverSent,
		"invalid":         adapters.ErrInvalid,
		"cancelled":       context.Canceled,
		"unknown_outcome": errors.New("cut"),
	} {
		if got := resultOf(err); got != want {
			t.Errorf("resultOf(%v) = %s, want %s", err, got, want)
		}
	}
}

func TestO2_CoverageAndGhosts(t *testing.T) {
	const life = 5 * time.Second
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	sec := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for _, test := range []struct {
		name                     string
		do                       func(c *Coverage)
		required, covered, ghost float64
	}{
		{"nothing", func(*Coverage) {}, 0, 0, 0},
		{"never shown", func(c *Coverage) { c.Start(at(0)); c.Answered(at(3)) }, 3, 0, 0},
		{"renewed in time", func(c *Coverage) {
			c.Start(at(0))
			c.Shown(at(0))
			c.Shown(at(4))
			c.Shown(at(8))
			c.Cleared(at(10))
			c.Answered(at(10))
		}, 10, 10, 0},
		{"a gap", func(c *Coverage) {
			c.Start(at(0))
			c.Shown(at(1))
			c.Shown(at(8))
			c.Cleared(at(10))
			c.Answered(at(10))
		}, 10, 7, 0},
		{"cleared by an own post", func(c *Coverage) {
			c.Start(at(0))
			c.Shown(at(0))
			c.Cleared(at(2))
			c.Shown(at(3))
			c.Cleared(at(4))
			c.Answered(at(4))
		}, 4, 3, 0},
		{"waits for a person", func(c *Coverage) {
			c.Start(at(0))
			c.Shown(at(0))
			c.Pause(at(2))
			c.Start(at(60))
			c.Shown(at(60))
			c.Cleared(at(61))
			c.Answered(at(61))
		}, 3, 3, 0},
		{"the last pulse outlives the answer", func(c *Coverage) {
			c.Start(at(0))
			c.Shown(at(0))
			c.Answered(at(1))
		}, 1, 1, 4},
		{"a late pulse is cleared", func(c *Coverage) {
			c.Start(at(0))
			c.Answered(at(1))
			c.Shown(at(2))
			c.Cleared(at(3))
		}, 1, 0, 1},
	} {
		c := NewCoverage(life)
		test.do(&c)
		required, covered, ghost := c.Totals()
		if required != sec(test.required) || covered != sec(test.covered) || ghost != sec(test.ghost) {
			t.Errorf("%s: required %s, covered %s, ghost %s; want %v, %v, %v", test.name, required, covered, ghost, test.required, test.covered, test.ghost)
		}
	}
}

// TestO2_ReadmeNamesWhatExists: the alert rules in the README ask for metrics that are served.
func TestO2_ReadmeNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := New("v1")
	exercise(m)
	served := scrape(t, m)
	names := regexp.MustCompile(`\btypist_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 7 {
		t.Fatalf("only %d names of metrics in the README", len(names))
	}
	for _, name := range names {
		if !strings.Contains(served, "# TYPE "+name+" ") {
			t.Errorf("the README names %s, which is not served", name)
		}
	}
}
