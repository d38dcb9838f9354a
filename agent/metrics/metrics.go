// Package metrics measures what an operator wants to know about indicators, messages and turns
// (O2) and serves it in Prometheus' text form. Every method works on a nil *Metrics and does
// nothing then; none blocks.
package metrics

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"typist/adapters"
)

// Metrics are the metrics of one process, in a registry of their own. Channel is the adapter's
// name in every method.
type Metrics struct {
	registry *prometheus.Registry

	pulses      *prometheus.CounterVec
	active      *prometheus.GaugeVec
	firstPulse  *prometheus.HistogramVec
	required    *prometheus.CounterVec
	covered     *prometheus.CounterVec
	ghost       *prometheus.CounterVec
	calls       *prometheus.CounterVec
	callTime    *prometheus.HistogramVec
	coalesced   *prometheus.CounterVec
	dropped     *prometheus.CounterVec
	editLag     *prometheus.HistogramVec
	limited     *prometheus.CounterVec
	limitedWait *prometheus.CounterVec
	turns       *prometheus.CounterVec
	running     *prometheus.GaugeVec
	undelivered *prometheus.CounterVec
	stop        *prometheus.HistogramVec
	queue       prometheus.Gauge
	up          *prometheus.GaugeVec

	mu       sync.Mutex
	onScrape []func(context.Context)
}

// Buckets, in seconds: a first pulse is due within milliseconds; a stop must show within 0.3 s and
// end within 5 s (S2); calls and edits take from loopback's milliseconds to minutes of a 429.
var (
	quick = []float64{.001, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	slow  = []float64{.01, .05, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60}
)

// New makes the metrics and their registry, with those of the Go runtime and the process.
// version is shown as a label of typist_info.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.pulses = m.counter("indicator_pulses_total", "Calls that show or renew the typing indicator.", "channel", "result")
	m.active = m.gauge("indicators_active", "Typing indicators that are kept showing.", "channel")
	m.firstPulse = m.histogram("first_pulse_seconds", "Time from a received message to the first pulse that its turn sends.", quick, "channel")
	m.required = m.counter("indicator_required_seconds_total", "Time during which indicators had to show.", "channel")
	m.covered = m.counter("indicator_covered_seconds_total", "Part of typist_indicator_required_seconds_total during which they showed, as far as the bot can know.", "channel")
	m.ghost = m.counter("indicator_ghost_seconds_total", "Time during which an indicator may have shown after the answer stood.", "channel")
	m.calls = m.counter("calls_total", "Sends, edits and deletes of messages.", "channel", "op", "result")
	m.callTime = m.histogram("call_seconds", "Time that sends, edits and deletes take.", slow, "channel", "op")
	m.coalesced = m.counter("edits_coalesced_total", "States of a message that a newer one replaced before they were sent.", "channel")
	m.dropped = m.counter("edits_dropped_total", "States of a message that could not be sent and were given up.", "channel")
	m.editLag = m.histogram("edit_lag_seconds", "Time from a change to the edit that shows it.", slow, "channel")
	m.limited = m.counter("rate_limited_total", "Calls that the platform answered with 429.", "channel")
	m.limitedWait = m.counter("rate_limited_seconds_total", "Time that 429 answers told to wait.", "channel")
	m.turns = m.counter("turns_total", "Turns that ended, by outcome.", "channel", "outcome")
	m.running = m.gauge("runs_active", "Runs in flight.", "channel")
	m.undelivered = m.counter("answers_undelivered_total", "Answers that could not be delivered.", "channel")
	m.stop = m.histogram("stop_seconds", "Time from a stop to the end of the run.", slow, "channel")
	m.up = m.gauge("channel_up", "1 while the channel is connected.", "channel")
	m.queue = prometheus.NewGauge(prometheus.GaugeOpts{Name: "typist_queue_depth", Help: "Messages that wait for their turn."})
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "typist_info", Help: "Always 1; its label says which version runs."}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	m.registry.MustRegister(m.queue, info)
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "typist_" + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "typist_" + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "typist_" + name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

// OnScrape has f called before each scrape, to set what is not counted as it happens.
func (m *Metrics) OnScrape(f func(context.Context)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onScrape = append(m.onScrape, f)
}

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m == nil {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	before := m.onScrape
	m.mu.Unlock()
	for _, f := range before {
		f(r.Context())
	}
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// ChannelUp says whether a channel is connected.
func (m *Metrics) ChannelUp(channel string, up bool) {
	if m == nil {
		return
	}
	value := 0.0
	if up {
		value = 1
	}
	m.up.WithLabelValues(channel).Set(value)
}

// QueueDepth says how many messages wait for their turn.
func (m *Metrics) QueueDepth(n int) {
	if m != nil {
		m.queue.Set(float64(n))
	}
}

// RunStarted counts a run in.
func (m *Metrics) RunStarted(channel string) {
	if m != nil {
		m.running.WithLabelValues(channel).Inc()
	}
}

// RunEnded counts a run out and its turn by outcome: done, silent, stopped, interrupted, failed.
// A stop is no error (S2).
func (m *Metrics) RunEnded(channel, outcome string) {
	if m == nil {
		return
	}
	m.running.WithLabelValues(channel).Dec()
	m.turns.WithLabelValues(channel, outcome).Inc()
}

// Undelivered counts an answer that could not be delivered.
func (m *Metrics) Undelivered(channel string) {
	if m != nil {
		m.undelivered.WithLabelValues(channel).Inc()
	}
}

// Stopped measures the time from a stop to the end of its run (S2).
func (m *Metrics) Stopped(channel string, took time.Duration) {
	if m != nil {
		m.stop.WithLabelValues(channel).Observe(took.Seconds())
	}
}

// Limited counts a 429 and the time it told to wait.
func (m *Metrics) Limited(channel string, wait time.Duration) {
	if m == nil {
		return
	}
	m.limited.WithLabelValues(channel).Inc()
	m.limitedWait.WithLabelValues(channel).Add(max(wait, 0).Seconds())
}

// Call counts a send, edit or delete that came back with err.
func (m *Metrics) Call(channel, op string, err error, took time.Duration) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(channel, op, resultOf(err)).Inc()
	m.callTime.WithLabelValues(channel, op).Observe(took.Seconds())
}

// EditCoalesced counts a state that a newer one replaced before it was sent.
func (m *Metrics) EditCoalesced(channel string) {
	if m != nil {
		m.coalesced.WithLabelValues(channel).Inc()
	}
}

// EditDropped counts a state that was given up.
func (m *Metrics) EditDropped(channel string) {
	if m != nil {
		m.dropped.WithLabelValues(channel).Inc()
	}
}

// EditLag measures the time from a change to the edit that shows it.
func (m *Metrics) EditLag(channel string, lag time.Duration) {
	if m != nil {
		m.editLag.WithLabelValues(channel).Observe(lag.Seconds())
	}
}

// resultOf is an error of a call as a label.
func resultOf(err error) string {
	var limited *adapters.RateLimitError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &limited):
		return "limited"
	case errors.Is(err, adapters.ErrGone):
		return "gone"
	case errors.Is(err, adapters.ErrTooOld):
		return "too_old"
	case errors.Is(err, adapters.ErrDenied):
		return "denied"
	case errors.Is(err, adapters.ErrNeverSent):
		return "never_sent"
	case errors.Is(err, adapters.ErrInvalid):
		return "invalid"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "unknown_outcome"
}
