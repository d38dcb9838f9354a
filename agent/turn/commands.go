package turn

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/typing"
)

// command is one of the bot's commands (C8): what the platforms' menus say of it, and what it does.
type command struct {
	args      string   // usage
	choices   []string // of the first argument
	onMessage bool     // also a message shortcut or context command
	run       func(l *lane, c commanded)
}

// commands is the one table of them; its descriptions are in the language table.
var commands map[string]command

func init() {
	modes := []string{typing.Never.String(), typing.Instant.String(), typing.Thinking.String(), typing.Message.String(), "default"}
	views := append(names(progress.Levels()), "default")
	reasonings := append(names(progress.Reasonings()), "default")
	commands = map[string]command{
		"help":      {run: help},
		"status":    {run: status},
		"stop":      {run: stop},
		"retry":     {run: retry},
		"new":       {run: newRoot},
		"branch":    {run: branch, onMessage: true},
		"typing":    {args: "[mode|default] [seconds]", choices: modes, run: setTyping},
		"view":      {args: "[overview|summary|detail|default]", choices: views, run: setView},
		"reasoning": {args: "[off|on|stream|default]", choices: reasonings, run: setReasoning},
		"heartbeat": {args: "[now]", choices: []string{"now"}, run: heartbeatNow},
	}
}

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// Commands describes the commands for the platforms' menus.
func Commands() []adapters.CommandSpec {
	var out []adapters.CommandSpec
	for _, name := range progress.Commands() {
		c := commands[name]
		out = append(out, adapters.CommandSpec{Name: name, Description: progress.CommandTexts(name), Args: c.args, Choices: c.choices, OnMessage: c.onMessage})
	}
	return out
}

// setCommands registers the menu, and goes on without one where that fails.
func (h *Hub) setCommands(ctx context.Context, c *channel) {
	menu, ok := c.adapter.(adapters.CommandMenu)
	if !ok {
		return
	}
	h.go_(func() {
		for try := 1; try <= 8; try++ {
			err := menu.SetCommands(ctx, Commands())
			if err == nil || ctx.Err() != nil {
				return
			}
			again := !refused(err)
			if try == 1 || !again { // while the platform is away every try fails: once is news
				h.log.Warn("the command menu could not be registered", "channel", c.adapter.Name(), "again", again, "error", err)
			}
			if !again || !waitFor(ctx, retryDelay(err, try)) {
				return
			}
		}
		h.log.Warn("the command menu was not registered; the next start tries again", "channel", c.adapter.Name())
	})
}

// parseCommand reads a command written as text. Only the bot's own commands are: everything else
// that begins with a slash is text.
func parseCommand(m adapters.Message, addressed bool) (adapters.Command, bool) {
	if !addressed || !strings.HasPrefix(m.Text, "/") {
		return adapters.Command{}, false
	}
	name, args := m.Text[1:], ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], name[i:]
	}
	name = strings.ToLower(name)
	if name == "start" { // Telegram's first message to every bot
		name = "help"
	}
	if _, ok := commands[name]; !ok && name != "typist" {
		return adapters.Command{}, false
	}
	c := adapters.Command{Origin: m.Origin, Name: name, Args: strings.TrimSpace(args)}
	if m.ReplyTo != nil {
		c.Target = m.ReplyTo.ID
	}
	return c, true
}

// bareCommand reads a command written without its slash after a mention, for threads in which the
// platform has no commands (C8: "@bot stop"). Only what is nothing but a command is one.
func bareCommand(m adapters.Message) (adapters.Command, bool) {
	name, args, _ := strings.Cut(strings.ToLower(strings.TrimSpace(m.Text)), " ")
	known, ok := commands[name]
	first, _, _ := strings.Cut(args, " ")
	if !ok || name == "stop" || len(m.Files) > 0 || args != "" && !oneOf(first, known.choices) { // stop is a stop word
		return adapters.Command{}, false
	}
	m.Text = "/" + name + " " + args
	return parseCommand(m, true)
}

// commanded: somebody used a command.
type commanded struct {
	command adapters.Command
	at      time.Time
	message string // of a command written as text
	stopped bool   // it has stopped something: its answer goes first (P11)
}

func (commanded) isLetter() {}

func (c commanded) read(l *lane) {
	known, ok := commands[c.command.Name]
	if !ok {
		c.answer(l, l.words().UnknownCommand(l.command(c.command.Name), l.command("help")))
		return
	}
	known.run(l, c)
}

// unwrapped is the command that Slack's one command for all names: /typist stop.
func unwrapped(c adapters.Command) adapters.Command {
	if c.Name != "typist" {
		return c
	}
	name, args, _ := strings.Cut(c.Args, " ")
	if name == "" {
		name = "help"
	}
	c.Name, c.Args = strings.ToLower(strings.TrimPrefix(name, "/")), strings.TrimSpace(args)
	return c
}

// answer is short and silent, and goes only to the one who asked where the platform can (C8, T14).
func (c commanded) answer(l *lane, text string) {
	post := adapters.Post{Doc: l.chn.fitOne(rich.Plain(text)), Silent: true}
	if c.command.Answer == nil {
		post.ReplyTo = c.message
		if c.stopped {
			l.post(post, classStop)
		} else {
			l.say(post)
		}
		return
	}
	l.hub.go_(func() {
		if err := c.command.Answer(post); err != nil {
			l.log.Warn("a command could not be answered", "command", c.command.Name, "error", err)
		}
	})
}

// later is answer for goroutines beside the lane.
func (c commanded) later(l *lane, text string) { l.mail.put(answerLater{c: c, text: text}) }

type answerLater struct {
	c    commanded
	text string
}

func (answerLater) isLetter() {}

func (a answerLater) read(l *lane) { a.c.answer(l, a.text) }

// command is how people write a command here: where an app has one command for all of its own, as
// a word behind that.
func (l *lane) command(name string) string {
	if l.chn.caps.CommandsFromManifest {
		return "/typist " + name
	}
	return "/" + name
}

func help(l *lane, c commanded) {
	w := l.words()
	lines := []string{w.HelpIntro}
	for _, name := range progress.Commands() {
		line := l.command(name)
		if args := commands[name].args; args != "" {
			line += " " + args
		}
		lines = append(lines, line+" – "+w.Command(name))
	}
	c.answer(l, strings.Join(lines, "\n"))
}

func stop(l *lane, c commanded) {
	text := l.stopAll()
	if c.command.Answer != nil && text == "" && l.run != nil {
		l.run.stops = append(l.run.stops, c) // a native command has to be answered, once that is true
		return
	}
	if text != "" {
		c.stopped = text != l.words().NothingRuns
		c.answer(l, text)
	}
}

func status(l *lane, c commanded) {
	w, now := l.words(), time.Now()
	var lines []string
	if r := l.run; r != nil && r.phase <= stopping {
		lines = append(lines, w.StatusRuns(now.Sub(r.started), strings.TrimSpace(rich.Text(r.board.View(progress.Overview, now)))))
	} else {
		lines = append(lines, w.StatusIdle)
	}
	if n, err := l.hub.store.CountWaiting(l.hub.callCtx, l.chat.Key()); err == nil && n > 0 {
		lines = append(lines, w.Waiting(n))
	}
	res, ag := l.typingInForce(c)
	lines = append(lines, w.TypingIs(res.Mode.String(), w.From(res.ModeFrom), res.Interval, w.From(res.IntervalFrom)))
	view, from := l.viewInForce()
	lines = append(lines, w.SettingIs("view", view, from))
	reasoning, from := l.reasoningInForce(ag)
	lines = append(lines, w.SettingIs("reasoning", reasoning, from))
	lines = append(lines, w.StatusAgent(ag.Name, ag.Backend))
	c.answer(l, strings.Join(lines, "\n"))
}

func branch(l *lane, c commanded) {
	if l.afterTurn(c) {
		return
	}
	l.branchFrom(c.command.Target, func(text string) { c.later(l, text) })
}

// retry answers the last message again: what failed goes on without repeating a side effect, an
// answer that did not reach the chat is delivered, a good one gets a sibling (S3, S8).
func retry(l *lane, c commanded) {
	if l.afterTurn(c) {
		return
	}
	if l.run != nil {
		c.answer(l, l.words().Busy)
		return
	}
	if l.retrying {
		l.retries = append(l.retries, c)
		return
	}
	l.retrying = true
	l.hub.go_(func() {
		delivers := false
		defer func() {
			if !delivers {
				l.mail.put(retried{})
			}
		}()
		ctx := context.WithoutCancel(l.hub.callCtx)
		run, ok, err := l.hub.store.LastRun(ctx, l.chat.Key())
		switch {
		case err != nil:
			l.log.Error("the last run could not be read", "error", err)
			c.later(l, l.words().TryLater)
			return
		case !ok || run.State == store.RunRunning:
			c.later(l, l.words().NothingToRetry)
			return
		case run.Failure == undelivered && run.State == store.RunDone: // else there is no answer yet
			d, err := l.storedAnswer(ctx, run)
			if err == nil && len(d.doc) > 0 {
				d.command, delivers = c, true
				l.mail.put(d)
				return
			}
			if err != nil {
				l.log.Error("the stored answer could not be read", "error", err)
			}
		}
		in, err := l.hub.again(ctx, run, false)
		if err == nil {
			in.Message.Origin = c.command.Origin
			in.Message.Origin.EventID = "retry/" + c.command.EventID
			err = l.hub.accept(ctx, in, time.Now())
		}
		if err != nil {
			l.log.Error("a retry could not be stored", "error", err)
			c.later(l, l.words().TryLater)
			return
		}
		if c.command.Answer != nil {
			c.later(l, l.words().Answering)
		}
	})
}

// oneOf checks the first argument of a setting's command.
func oneOf(arg string, choices []string) bool { return slices.Contains(choices, arg) }
