package progress

import (
	"strconv"
	"strings"
	"time"

	"typist/agent"
)

// fill puts values into a text's places: fill("{n} of {m}", "n", "1", "m", "2").
func fill(text string, pairs ...string) string {
	old := make([]string, len(pairs))
	for i, p := range pairs {
		if old[i] = p; i%2 == 0 {
			old[i] = "{" + p + "}"
		}
	}
	return strings.NewReplacer(old...).Replace(text)
}

func (p plural) of(n int) string {
	if n == 1 && p.One != "" {
		return fill(p.One, "n", "1")
	}
	return fill(p.Other, "n", strconv.Itoa(n))
}

// Duration is d in whole seconds that have passed: "12s", "1m 5s", "1h 0m 5s"; "<1s" under one.
func (t *Table) Duration(d time.Duration) string {
	s := int(d / time.Second)
	if s < 1 {
		return t.units.Under
	}
	var parts []string
	add := func(n int, unit string) { parts = append(parts, fill(unit, "n", strconv.Itoa(n))) }
	if s >= 3600 {
		add(s/3600, t.units.Hour)
	}
	if s >= 60 {
		add(s/60%60, t.units.Minute)
	}
	add(s%60, t.units.Second)
	return strings.Join(parts, t.units.Joint)
}

// span is a time that somebody chose, such as "1h" or "1h 30m": without its zeros.
func (t *Table) span(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Hour, t.units.Hour}, {time.Minute, t.units.Minute}, {time.Second, t.units.Second}} {
		if n := d / u.size; n > 0 {
			parts = append(parts, fill(u.name, "n", strconv.Itoa(int(n))))
			d -= n * u.size
		}
	}
	if len(parts) == 0 {
		return t.units.Under
	}
	return strings.Join(parts, t.units.Joint)
}

// clock is a running clock's text; "" within the first second.
func (t *Table) clock(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return t.Duration(d)
}

// ahead is a time to wait, rounded up: told to wait 1.2 s, one waits 2.
func (t *Table) ahead(d time.Duration) string {
	return t.Duration(max(d+time.Second-1, time.Second).Truncate(time.Second))
}

// ThinkingFor is "Thinking… (10s)"; within the first second only the word.
func (t *Table) ThinkingFor(d time.Duration) string {
	if d < time.Second {
		return t.Thinking
	}
	return fill(t.thinkingFor, "d", t.Duration(d))
}

// ThoughtFor is "Thought for 12s".
func (t *Table) ThoughtFor(d time.Duration) string { return fill(t.thoughtFor, "d", t.Duration(d)) }

// Stopped is "Stopped after 12s".
func (t *Table) Stopped(d time.Duration) string { return fill(t.stopped, "d", t.Duration(d)) }

// WorkedFor is "Worked for 42s · 7 steps".
func (t *Table) WorkedFor(d time.Duration, steps int) string {
	s := fill(t.worked, "d", t.Duration(d))
	if steps > 0 {
		s += " · " + t.workedSteps.of(steps)
	}
	return s
}

// Retrying says that a failed request is sent again in d.
func (t *Table) Retrying(d time.Duration) string { return fill(t.retrying, "d", t.ahead(d)) }

// EarlierSteps stands for n finished steps that are not shown.
func (t *Table) EarlierSteps(n int) string { return t.earlierSteps.of(n) }

// EarlierEntries stands for n entries of the trace that are not shown.
func (t *Table) EarlierEntries(n int) string { return t.earlierEntries.of(n) }

// MoreSubagents stands for n subagents that are not shown.
func (t *Table) MoreSubagents(n int) string { return t.moreSubagents.of(n) }

// Failure is the sentence a person reads when a run has failed: what happened and what to do
// (S3). nil is a failure of unknown kind.
func (t *Table) Failure(f *agent.Failure) string {
	text, advice := t.otherFailure, t.retryNow
	if f != nil {
		if s := t.failures[f.Kind]; s != "" {
			text = s
		}
		if f.RetryAfter > 0 {
			advice = fill(t.retryAfter, "d", t.ahead(f.RetryAfter))
		}
	}
	status := ""
	if f != nil && f.Status > 0 {
		status = " (HTTP " + strconv.Itoa(f.Status) + ")"
	}
	return fill(text, "status", status, "retry", advice)
}

// OutcomeUnknown asks about a call that was cut off while it ran (S4).
func (t *Table) OutcomeUnknown(tool string) string { return fill(t.unknown, "name", tool) }

// Undecided says that nobody decided about an approval in time (A4).
func (t *Table) Undecided(title string) string { return fill(t.toolUndecided, "title", title) }

// Unasked says that a call was refused because its question could not be posted (A4).
func (t *Table) Unasked(title string) string { return fill(t.toolUnasked, "title", title) }

// StoppedDropped answers a stop that also dropped n waiting messages (S2). It does not say that
// the run has stopped: the progress message says so once that is true.
func (t *Table) StoppedDropped(n int) string {
	if n == 0 {
		return t.Stopping
	}
	return t.dropped.of(n)
}

// Queued says that n inputs come before a message (S10).
func (t *Table) Queued(n int) string { return t.queued.of(n) }

// QueueFull says that n messages wait already (S10).
func (t *Table) QueueFull(n int) string { return t.queueFull.of(n) }

// Approved and Denied tell what was decided about a tool call (A4); by is the person's name.
func (t *Table) Approved(title, by string) string { return fill(t.approved, "title", title, "by", by) }

// Denied is Approved's opposite.
func (t *Table) Denied(title, by string) string { return fill(t.denied, "title", title, "by", by) }

// TooFast says when a person who wrote too often may write again.
func (t *Table) TooFast(wait time.Duration) string { return fill(t.tooFast, "d", t.ahead(wait)) }

// FileTooBig says that a file is over the limit in bytes.
func (t *Table) FileTooBig(name string, limit int64) string {
	return fill(t.fileTooBig, "name", name, "n", strconv.FormatInt(limit>>20, 10))
}

// FileUnread says that a file could not be loaded.
func (t *Table) FileUnread(name string) string { return fill(t.fileUnread, "name", name) }

// FilesUnread names the files of a message that are over the limit in bytes for all of them together.
func (t *Table) FilesUnread(names []string, limit int64) string {
	return fill(t.filesUnread, "name", strings.Join(names, ", "), "n", strconv.FormatInt(limit>>20, 10))
}

// FileUnsent names the files of an answer that the platform did not take.
func (t *Table) FileUnsent(names []string) string {
	return fill(t.fileUnsent, "name", strings.Join(names, ", "))
}

// PairingCode tells an unknown person what to pass on to the owner (C2).
func (t *Table) PairingCode(code string) string { return fill(t.pairingCode, "code", code) }

// PairingAsk tells the owner who wants to be let in.
func (t *Table) PairingAsk(name, id, code string) string {
	return fill(t.pairingAsk, "name", name, "id", id, "code", code)
}

// Paired confirms to the owner who was let in.
func (t *Table) Paired(name string) string { return fill(t.paired, "name", name) }

// Command is a command's description for menus and /help; "" for one that does not exist.
func (t *Table) Command(name string) string { return t.commands[name] }

// CommandTexts is a command's description in every language.
func CommandTexts(name string) map[string]string {
	m := map[string]string{}
	for _, l := range Langs() {
		m[string(l)] = Words(l).Command(name)
	}
	return m
}

// BadValue refuses an argument and lists what is allowed.
func (t *Table) BadValue(got string, allowed ...string) string {
	return fill(t.badValue, "got", oneLine(got, 40), "allowed", strings.Join(allowed, ", "))
}

// UnknownCommand answers a command that does not exist; help is how the list of them is asked for.
func (t *Table) UnknownCommand(name, help string) string {
	return fill(t.unknownCmd, "name", oneLine(name, 40), "help", help)
}

// From names where a setting came from: the level's name, translated where it is none of the
// config's keys ("chat", "kind of chat", "default").
func (t *Table) From(source string) string {
	if s := t.sources[source]; s != "" {
		return s
	}
	return source
}

// SettingIs tells what is in force for this chat and which level decided (/view, /reasoning).
func (t *Table) SettingIs(name, value, from string) string {
	return fill(t.settingIs, "name", name, "value", value, "from", t.From(from))
}

// SettingSet confirms a setting for this chat.
func (t *Table) SettingSet(name, value string) string {
	return fill(t.settingSet, "name", name, "value", value)
}

// SettingBack confirms that a chat's own setting is gone and tells what is in force now.
func (t *Table) SettingBack(name, value, from string) string {
	return fill(t.settingBack, "name", name, "value", value, "from", t.From(from))
}

// TypingIs tells mode and interval that are in force and which levels decided (T2).
func (t *Table) TypingIs(mode, modeFrom string, interval time.Duration, intervalFrom string) string {
	return fill(t.typingIs, "mode", mode, "from", t.From(modeFrom), "d", seconds(interval), "dfrom", t.From(intervalFrom))
}

// seconds keeps fractions, since intervals may have them.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// StatusRuns tells how long the run has been going and what it does.
func (t *Table) StatusRuns(d time.Duration, step string) string {
	return fill(t.statusFor, "d", t.Duration(d), "step", step)
}

// Waiting counts the messages that wait.
func (t *Table) Waiting(n int) string { return t.waiting.of(n) }

// StatusAgent names the agent and its backend.
func (t *Table) StatusAgent(agent, backend string) string {
	return fill(t.statusAgent, "agent", agent, "backend", backend)
}

// HeartbeatEvery tells a heartbeat's schedule: where it goes and when it is due next.
func (t *Table) HeartbeatEvery(every time.Duration, target string, next time.Duration) string {
	return fill(t.heartbeatEvery, "every", t.span(every), "target", target, "d", t.ahead(next))
}

// HeartbeatLost says that a heartbeat's target could not be found, and why.
func (t *Table) HeartbeatLost(target, reason string) string {
	return fill(t.heartbeatLost, "target", target, "reason", reason)
}
