package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"typist/agent"
)

// logFlags are the flags of a command that logs (O3).
type logFlags struct {
	LogFormat string `default:"text" enum:"text,json" help:"Format of the log: text or json."`
	LogLevel  string `default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
}

// logger writes to w. Nothing that secrets or agent.Mask know shows in it.
func (f logFlags) logger(w io.Writer, secrets *secretList) *slog.Logger {
	var level slog.Level
	switch f.LogLevel {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if f.LogFormat == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(maskingHandler{next: h, secrets: secrets})
}

// secretList masks known secrets by their exact text. The zero value knows none; it is safe for
// concurrent use.
type secretList struct {
	replacer atomic.Pointer[strings.Replacer]
}

// shortSecret is the length below which a value is not masked: it would mask ordinary words.
const shortSecret = 6

// set replaces the known secrets.
func (l *secretList) set(secrets []string) {
	var all []string
	for _, s := range secrets {
		if len(s) < shortSecret {
			continue
		}
		all = append(all, s)
		if escaped := url.QueryEscape(s); escaped != s {
			all = append(all, escaped)
		}
		if escaped := url.PathEscape(s); escaped != s {
			all = append(all, escaped)
		}
	}
	// The longest first: a secret may hold another one.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(all))
	for _, s := range slices.Compact(all) {
		pairs = append(pairs, s, agent.Masked)
	}
	l.replacer.Store(strings.NewReplacer(pairs...))
}

// mask is s without secrets.
func (l *secretList) mask(s string) string {
	if r := l.replacer.Load(); r != nil {
		s = r.Replace(s)
	}
	return agent.Mask(s)
}

// maskingHandler masks secrets in messages and attributes before the next handler sees them.
type maskingHandler struct {
	next    slog.Handler
	secrets *secretList
}

func (h maskingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h maskingHandler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.secrets.mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h maskingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return maskingHandler{next: h.next.WithAttrs(masked), secrets: h.secrets}
}

func (h maskingHandler) WithGroup(name string) slog.Handler {
	return maskingHandler{next: h.next.WithGroup(name), secrets: h.secrets}
}

func (h maskingHandler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.secrets.mask(v.String()))
	case slog.KindGroup:
		group := v.Group()
		masked := make([]slog.Attr, len(group))
		for i, inner := range group {
			masked[i] = h.attr(inner)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(masked...)}
	case slog.KindAny:
		return slog.String(a.Key, h.secrets.mask(plain(v.Any())))
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// plain is a value as text; one that panics while it is written must not end the program.
func plain(v any) (s string) {
	defer func() {
		if p := recover(); p != nil {
			s = fmt.Sprintf("(%T can't be written)", v)
		}
	}()
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339)
	case error:
		return v.Error()
	case []byte:
		return string(v)
	}
	return fmt.Sprintf("%+v", v)
}
