package turn

import (
	"strconv"
	"strings"

	"typist/adapters"
	"typist/typing"
)

// fromChat, fromConfig and fromKind name the level that decided a setting, for /status and the
// settings' own commands.
const (
	fromChat   = "chat"
	fromConfig = "progress.view"
	fromAgent  = "agents.defaults"
)

// typingInForce resolves the typing that holds here (T2) for whoever asks.
func (l *lane) typingInForce(c commanded) (typing.Resolved, Agent) {
	set := l.hub.settings()
	ag := l.agent()
	own := l.prefs.typing
	own.Name = fromChat
	levels := append([]typing.Level{own, set.Channels[l.chat.Channel].Typing, set.SessionTyping}, ag.Levels...)
	return typing.Resolve(typing.Situation{Direct: l.kind == adapters.Direct, Mentioned: true}, levels...), ag
}

func (l *lane) viewInForce() (view, from string) {
	if l.prefs.view != "" {
		return string(l.prefs.view), fromChat
	}
	return string(l.hub.settings().View), fromConfig
}

func (l *lane) reasoningInForce(ag Agent) (level, from string) {
	if l.prefs.reasoning != "" {
		return string(l.prefs.reasoning), fromChat
	}
	return string(ag.Reasoning), fromAgent
}

// setTyping is /typing [mode|default] [seconds] (T2): without arguments it shows what is in force
// and which level decided.
func setTyping(l *lane, c commanded) {
	w := l.words()
	fields := strings.Fields(strings.ToLower(c.command.Args))
	choices := commands["typing"].choices
	var mode, seconds string
	for i, f := range fields {
		switch n, err := strconv.ParseFloat(f, 64); {
		case i == 0 && oneOf(f, choices):
			mode = f
		case err == nil && seconds == "" && n >= typing.MinInterval.Seconds() && n <= 3600:
			seconds = f
		default:
			c.answer(l, w.BadValue(f, append(choices, "1…3600")...))
			return
		}
	}
	var err error
	switch {
	case mode == "default":
		err = l.setPref(prefTyping, "")
		if err == nil && seconds == "" {
			err = l.setPref(prefInterval, "")
		}
	case mode != "":
		err = l.setPref(prefTyping, mode)
	}
	if err == nil && seconds != "" {
		err = l.setPref(prefInterval, seconds)
	}
	if err != nil {
		l.refuseSetting(c, err)
		return
	}
	res, _ := l.typingInForce(c)
	c.answer(l, w.TypingIs(res.Mode.String(), w.From(res.ModeFrom), res.Interval, w.From(res.IntervalFrom)))
}

// setView is /view [overview|summary|detail|default] (P7).
func setView(l *lane, c commanded) {
	l.setting(c, "view", prefView, l.viewInForce)
	if r := l.run; r != nil && r.progress != nil && r.phase <= stopping {
		r.progress.stale = true
		l.out.push(r.progress)
	}
}

// setReasoning is /reasoning [off|on|stream|default] (A6); it holds from the next run on.
func setReasoning(l *lane, c commanded) {
	ag := l.agent()
	l.setting(c, "reasoning", prefReasoning, func() (string, string) { return l.reasoningInForce(ag) })
}

// setting is a command that sets one of a few values for the chat, durably.
func (l *lane) setting(c commanded, name, pref string, inForce func() (value, from string)) {
	w := l.words()
	arg := strings.ToLower(c.command.Args)
	if arg != "" && !oneOf(arg, commands[name].choices) {
		c.answer(l, w.BadValue(arg, commands[name].choices...))
		return
	}
	var err error
	switch arg {
	case "":
	case "default":
		err = l.setPref(pref, "")
	default:
		err = l.setPref(pref, arg)
	}
	if err != nil {
		l.refuseSetting(c, err)
		return
	}
	value, from := inForce()
	switch arg {
	case "":
		c.answer(l, w.SettingIs(name, value, w.From(from)))
	case "default":
		c.answer(l, w.SettingBack(name, value, w.From(from)))
	default:
		c.answer(l, w.SettingSet(name, value))
	}
}

func (l *lane) refuseSetting(c commanded, err error) {
	l.log.Error("a setting could not be stored", "error", err)
	c.answer(l, l.words().TryLater)
}
