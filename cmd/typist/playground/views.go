package playground

import (
	"time"

	"typist/adapters/sim"
)

// chatView is a chat as the page gets it.
type chatView struct {
	Platform string `json:"platform"`
	sim.Chat
}

// messageView is a message as the page gets it: without file contents and earlier states. Times
// are milliseconds since 1970.
type messageView struct {
	Platform  string              `json:"platform"`
	Chat      string              `json:"chat"`
	Thread    string              `json:"thread,omitempty"`
	ID        string              `json:"id"`
	From      sim.Person          `json:"from"`
	Text      string              `json:"text"`
	HTML      string              `json:"html"`
	Buttons   [][]sim.Button      `json:"buttons,omitempty"`
	ReplyTo   string              `json:"replyTo,omitempty"`
	Silent    bool                `json:"silent,omitempty"`
	Pings     []string            `json:"pings,omitempty"`
	Private   string              `json:"private,omitempty"`
	Files     []fileView          `json:"files,omitempty"`
	Reactions map[string][]string `json:"reactions,omitempty"`
	Edits     int                 `json:"edits,omitempty"`
	Deleted   bool                `json:"deleted,omitempty"`
	At        int64               `json:"at"`
	EditedAt  int64               `json:"editedAt,omitempty"`
}

// fileView names a file; its content is at /api/file.
type fileView struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int    `json:"size"`
}

func messageOf(platform string, m sim.Message) messageView {
	v := messageView{
		Platform: platform, Chat: m.Chat, Thread: m.Thread, ID: m.ID, From: m.From, Text: m.Text, HTML: m.HTML, Buttons: m.Buttons,
		ReplyTo: m.ReplyTo, Silent: m.Silent, Pings: m.Pings, Private: m.Private, Reactions: m.Reactions, Edits: m.Edits, Deleted: m.Deleted,
		At: m.At.UnixMilli(), EditedAt: millis(m.EditedAt),
	}
	if v.Deleted { // nobody sees it any more; its time is still drawn
		v.HTML, v.Buttons, v.Reactions = "", nil, nil
		return v
	}
	for _, f := range m.Files {
		v.Files = append(v.Files, fileView{Name: f.Name, MIME: f.MIME, Size: len(f.Data)})
	}
	return v
}

// showView is a stretch in which an indicator showed.
type showView struct {
	Platform string `json:"platform"`
	Chat     string `json:"chat"`
	Thread   string `json:"thread,omitempty"`
	Start    int64  `json:"start"`
	End      int64  `json:"end"`
	Text     string `json:"text,omitempty"`
	Pulses   int    `json:"pulses"`
	Why      string `json:"why,omitempty"`
}

func showOf(platform, chat, thread string, in sim.Interval) showView {
	return showView{Platform: platform, Chat: chat, Thread: thread, Start: in.Start.UnixMilli(), End: in.End.UnixMilli(),
		Text: in.Text, Pulses: in.Pulses, Why: in.Why}
}

// callView is a call of the platform's API.
type callView struct {
	Platform string `json:"platform"`
	N        int64  `json:"n"`
	At       int64  `json:"at"`
	TookMS   int64  `json:"took"`
	Op       sim.Op `json:"op"`
	Method   string `json:"method"`
	Chat     string `json:"chat,omitempty"`
	Thread   string `json:"thread,omitempty"`
	Status   int    `json:"status"`
	Error    string `json:"error,omitempty"`
}

func callOf(platform string, n int64, c sim.Call) callView {
	return callView{Platform: platform, N: n, At: c.At.UnixMilli(), TookMS: c.Took.Milliseconds(), Op: c.Op, Method: c.Method,
		Chat: c.Chat, Thread: c.Thread, Status: c.Status, Error: c.Error}
}

// faultsView lists what is wrong with a platform.
type faultsView struct {
	Platform string      `json:"platform"`
	Faults   []faultView `json:"faults"`
}

// faultView is a fault; times are milliseconds.
type faultView struct {
	Op         sim.Op  `json:"op,omitempty"`
	Times      int     `json:"times,omitempty"`
	Delay      int64   `json:"delay,omitempty"`
	Status     int     `json:"status,omitempty"`
	RetryAfter int64   `json:"retryAfter,omitempty"`
	Cut        sim.Cut `json:"cut,omitempty"`
}

func faultsOf(list []sim.Fault) []faultView {
	out := make([]faultView, 0, len(list))
	for _, f := range list {
		out = append(out, faultView{Op: f.Op, Times: f.Times, Delay: f.Delay.Milliseconds(), Status: f.Status,
			RetryAfter: f.RetryAfter.Milliseconds(), Cut: f.Cut})
	}
	return out
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
