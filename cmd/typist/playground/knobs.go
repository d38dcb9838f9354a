package playground

import (
	"fmt"
	"net/http"
	"time"

	"typist/adapters/sim"
	"typist/agent/progress"
	"typist/config"
	"typist/typing"
)

// settings change how typist behaves in all chats (W4).
func (w *web) settings(r *http.Request) (any, error) {
	var in struct {
		TypingMode    *string  `json:"typingMode"` // "" = by kind of chat
		TypingSeconds *float64 `json:"typingSeconds"`
		View          *string  `json:"view"`
		Language      *string  `json:"language"`
		Queue         *string  `json:"queue"`
		Reasoning     *string  `json:"reasoning"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.TypingMode != nil && *in.TypingMode != "" {
		if _, err := typing.ParseMode(*in.TypingMode); err != nil {
			return nil, badRequest{err}
		}
	}
	if in.TypingSeconds != nil && *in.TypingSeconds != 0 && (*in.TypingSeconds < 1 || *in.TypingSeconds > 3600) {
		return nil, badRequest{fmt.Errorf("an interval of %g s: want 1 to 3600", *in.TypingSeconds)}
	}
	if in.View != nil {
		if _, err := progress.ParseLevel(*in.View); err != nil {
			return nil, badRequest{err}
		}
	}
	if in.Language != nil {
		if _, err := progress.ParseLang(*in.Language); err != nil {
			return nil, badRequest{err}
		}
	}
	if in.Reasoning != nil {
		if _, err := progress.ParseReasoning(*in.Reasoning); err != nil {
			return nil, badRequest{err}
		}
	}
	if in.Queue != nil {
		switch *in.Queue {
		case "followup", "collect", "steer", "interrupt":
		default:
			return nil, badRequest{fmt.Errorf("no queue %.20q", *in.Queue)}
		}
	}
	return nil, w.p.bot.Knobs(func(c *config.Config) {
		set(&c.Session.TypingMode, in.TypingMode)
		if in.TypingSeconds != nil {
			c.Session.TypingInterval = time.Duration(*in.TypingSeconds * float64(time.Second))
		}
		set(&c.Progress.View, in.View)
		set(&c.Progress.Language, in.Language)
		set(&c.Session.Queue, in.Queue)
		set(&c.Agents.Defaults.ReasoningLevel, in.Reasoning)
	})
}

func set(to *string, from *string) {
	if from != nil {
		*to = *from
	}
}

// fault makes calls of a platform fail.
func (w *web) fault(r *http.Request) (any, error) {
	var in struct {
		Platform string    `json:"platform"`
		Fault    faultView `json:"fault"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	f := in.Fault
	t.inject(sim.Fault{Op: f.Op, Times: min(max(f.Times, 0), 1000), Status: f.Status, Cut: f.Cut,
		Delay: seconds(float64(f.Delay) / 1000), RetryAfter: seconds(float64(f.RetryAfter) / 1000)})
	return nil, nil
}

// mend ends the faults of a platform.
func (w *web) mend(r *http.Request) (any, error) {
	var in struct {
		Platform string `json:"platform"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	t.mend()
	return nil, nil
}

// disconnect cuts the bot off from a platform for a while.
func (w *web) disconnect(r *http.Request) (any, error) {
	var in struct {
		Platform string  `json:"platform"`
		Seconds  float64 `json:"seconds"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	t.Disconnect(seconds(in.Seconds))
	return nil, nil
}

// kill ends the bot as kill -9 does, and starts it again after a while.
func (w *web) kill(r *http.Request) (any, error) {
	var in struct {
		Seconds float64 `json:"seconds"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return nil, w.p.bot.Kill(seconds(in.Seconds))
}

// breakBackend kills the backends of the runs in work.
func (w *web) breakBackend(r *http.Request) (any, error) {
	var in struct{}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	n, err := w.p.bot.BreakBackend()
	return map[string]int{"runs": n}, err
}

// seconds bounds what a page may ask to wait for.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), 600) * float64(time.Second))
}
