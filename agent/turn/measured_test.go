package turn

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent/metrics"
)

// scrape reads the metrics.
func scrape(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestO2_TheMetricsMove with everything that O2 lists.
func TestO2_TheMetricsMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		limited := false
		f.fail = func(op sim.Op, chat adapters.Chat, _ string) (error, bool) {
			switch {
			case op == sim.OpEdit && !limited:
				limited = true
				return &adapters.RateLimitError{RetryAfter: 3 * time.Second}, false
			case chat.ID == "room" && op == sim.OpSend:
				return adapters.ErrDenied, false
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: talking(100, 100*time.Millisecond)})
		b.hub.metrics = metrics.New("test")
		b.write("dm", "hi")
		after(5 * time.Second)
		mid := scrape(b.hub.metrics)
		for _, want := range []string{`typist_indicators_active{channel="telegram"} 1`, `typist_runs_active{channel="telegram"} 1`} {
			if !strings.Contains(mid, want) {
				t.Errorf("in mid-run %s is missing", want)
			}
		}
		after(10 * time.Second)
		b.write("dm", "hi")
		after(3 * time.Second)
		b.press("dm", "Stop")
		after(3 * time.Second)
		b.write("room", "hi", mentioned)
		after(time.Minute)
		got := scrape(b.hub.metrics)
		for _, want := range []string{
			`typist_indicator_pulses_total{channel="telegram",result="ok"} [1-9]`, `typist_indicators_active{channel="telegram"} 0`,
			`typist_first_pulse_seconds_count{channel="telegram"} 3`, `typist_indicator_required_seconds_total{channel="telegram"} [1-9]`,
			`typist_indicator_covered_seconds_total{channel="telegram"} [1-9]`, `typist_indicator_ghost_seconds_total{channel="telegram"} `,
			`typist_calls_total{channel="telegram",op="edit",result="ok"} [1-9]`, `typist_calls_total{channel="telegram",op="edit",result="limited"} 1`,
			`typist_edits_coalesced_total{channel="telegram"} [1-9]`, `typist_edit_lag_seconds_count{channel="telegram"} [1-9]`,
			`typist_rate_limited_total{channel="telegram"} 1`, `typist_rate_limited_seconds_total{channel="telegram"} 3`,
			`typist_turns_total{channel="telegram",outcome="stopped"} 1`, `typist_turns_total{channel="telegram",outcome="done"} 2`,
			`typist_runs_active{channel="telegram"} 0`, `typist_stop_seconds_count{channel="telegram"} 1`,
			`typist_answers_undelivered_total{channel="telegram"} 1`,
		} {
			if !regexp.MustCompile(`(?m)^` + strings.ReplaceAll(regexp.QuoteMeta(want), `\[1-9\]`, `[1-9]`)).MatchString(got) {
				t.Errorf("%s is missing", want)
			}
		}
		if t.Failed() {
			t.Log(regexp.MustCompile(`(?m)^typist_.*\n`).FindAllString(got, -1))
		}
	})
}

// TestO2_CoverageIsWhole where pulses work: what had to show did, and no ghost.
func TestO2_CoverageIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(20*time.Second, "Done.")})
		b.hub.metrics = metrics.New("test")
		b.write("dm", "hi")
		after(time.Minute)
		got := scrape(b.hub.metrics)
		for _, want := range []string{`typist_indicator_required_seconds_total{channel="telegram"} 20`, `typist_indicator_covered_seconds_total{channel="telegram"} 20`,
			`typist_indicator_ghost_seconds_total{channel="telegram"} 0`} {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("%s is missing in %s", want, regexp.MustCompile(`typist_indicator_.*`).FindAllString(got, -1))
			}
		}
	})
}
