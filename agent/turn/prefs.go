package turn

import (
	"errors"
	"maps"
	"strconv"
	"time"

	"typist/adapters"
	"typist/agent/progress"
	"typist/typing"
)

// prefs are a chat's own settings, set by commands and durable (T2, P7, A6).
type prefs struct {
	typing    typing.Level
	view      progress.Level
	reasoning progress.Reasoning
}

// The names of a chat's settings in the store.
const (
	prefTyping    = "typing"
	prefInterval  = "typingSeconds"
	prefView      = "view"
	prefReasoning = "reasoning"
)

// chatLevel names the level of T2 that /typing sets.
const chatLevel = "/typing"

func (l *lane) loadPrefs() prefs {
	p := prefs{typing: typing.Level{Name: chatLevel}}
	values, err := l.hub.store.Settings(l.hub.callCtx, l.chat.Key())
	if l.chn.caps.ThreadPerQuestion && l.chat.Thread != "" {
		// A thread that lives for one question takes what was set for its channel.
		whole, e := l.hub.store.Settings(l.hub.callCtx, adapters.Chat{Channel: l.chat.Channel, ID: l.chat.ID}.Key())
		err = errors.Join(err, e)
		if err == nil {
			maps.Copy(whole, values)
			values = whole
		}
	}
	if err != nil {
		l.log.Error("the chat's settings could not be read; the configured ones hold", "error", err)
		return p
	}
	if mode, err := typing.ParseMode(values[prefTyping]); err == nil {
		p.typing.Mode = mode
	}
	if seconds, err := strconv.ParseFloat(values[prefInterval], 64); err == nil {
		p.typing.Interval = time.Duration(seconds * float64(time.Second))
	}
	if view, err := progress.ParseLevel(values[prefView]); err == nil {
		p.view = view
	}
	if r, err := progress.ParseReasoning(values[prefReasoning]); err == nil {
		p.reasoning = r
	}
	return p
}

func (p prefs) reasoningOr(fallback progress.Reasoning) progress.Reasoning {
	if p.reasoning != "" {
		return p.reasoning
	}
	return fallback
}

// setPref stores one setting; "" removes it.
func (l *lane) setPref(name, value string) error {
	if err := l.hub.store.SetSetting(l.hub.callCtx, l.chat.Key(), name, value); err != nil {
		return err
	}
	l.prefs = l.loadPrefs()
	return nil
}
