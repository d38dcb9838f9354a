package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/eventlog"
)

// Pace of a page's stream: changes that come together go together, an idle one says that it
// lives, and a page that takes nothing is given up.
const (
	streamEvery   = 50 * time.Millisecond
	streamIdle    = 15 * time.Second
	streamTimeout = 30 * time.Second
	streamBatch   = 400 // items or run events in one message
)

// stream is a page's one connection: what the platforms show, and the run events of the chat that
// its inspector looks at, each from the number on that the page has seen (S6). An event's id holds
// both numbers, so that a browser that connects again goes on where it was.
func (w *web) stream(rw http.ResponseWriter, r *http.Request) {
	select {
	case w.streams <- struct{}{}:
		defer func() { <-w.streams }()
	default:
		http.Error(rw, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	s := &pageStream{web: w, chat: r.URL.Query().Get("chat"), rw: rw, ctl: http.NewResponseController(rw)}
	if s.chat != "" {
		if _, err := adapters.ParseChat(s.chat); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
	}
	if err := s.place(r); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	rw.WriteHeader(http.StatusOK)
	s.serve(r.Context())
}

// pageStream is one page's place in everything.
type pageStream struct {
	web  *web
	chat string // key; "" = no inspector
	rev  int64  // of the mirror
	seq  int64  // of the chat's events
	rw   http.ResponseWriter
	ctl  *http.ResponseController
}

// place reads the numbers that the page has seen.
func (s *pageStream) place(r *http.Request) error {
	q := r.URL.Query()
	text := q.Get("since") + "." + q.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	rev, seq, _ := strings.Cut(text, ".")
	for _, part := range []struct {
		text string
		into *int64
	}{{rev, &s.rev}, {seq, &s.seq}} {
		if part.text == "" {
			continue
		}
		n, err := strconv.ParseInt(part.text, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("bad place %.40q", text)
		}
		*part.into = n
	}
	return nil
}

func (s *pageStream) serve(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	lines := make(chan []eventlog.Line)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if s.chat != "" {
			s.follow(ctx, s.seq, lines)
		}
	}()
	defer func() { stop(); <-followed }()
	idle := time.NewTimer(streamIdle)
	defer idle.Stop()
	for first := true; ; first = false {
		changed, err := s.items(first)
		if err != nil {
			return
		}
		pause := time.NewTimer(streamEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		idle.Reset(streamIdle)
		select {
		case <-changed:
		case list := <-lines:
			err = s.run(list)
		case <-idle.C:
			err = s.send("event: alive\ndata: {}\n\n")
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// worldMessage is the data of an event "world".
type worldMessage struct {
	Now   int64   `json:"now"` // the server's clock, milliseconds
	Whole bool    `json:"whole,omitempty"`
	Items []*item `json:"items"`
}

// items sends what is new in the mirror; the first message always comes, so that a page knows
// that it has everything.
func (s *pageStream) items(first bool) (<-chan struct{}, error) {
	items, rev, changed := s.web.p.mirror.since(s.rev)
	whole := first
	for len(items) > 0 || whole {
		n := min(len(items), streamBatch)
		part := items[:n]
		items = items[n:]
		s.rev = rev
		if len(items) > 0 {
			s.rev = part[n-1].rev
		}
		data, err := json.Marshal(worldMessage{Now: time.Now().UnixMilli(), Whole: whole && len(items) == 0, Items: part})
		if err != nil {
			return nil, err
		}
		if err := s.event("world", data); err != nil {
			return nil, err
		}
		if len(items) == 0 {
			break
		}
	}
	return changed, nil
}

// runMessage is the data of an event "run".
type runMessage struct {
	Chat  string          `json:"chat"`
	Lines []eventlog.Line `json:"lines"`
}

func (s *pageStream) run(lines []eventlog.Line) error {
	for len(lines) > 0 {
		n := min(len(lines), streamBatch)
		data, err := json.Marshal(runMessage{Chat: s.chat, Lines: lines[:n]})
		if err != nil {
			return err
		}
		s.seq = lines[n-1].Seq
		if err := s.event("run", data); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// follow hands over the chat's run events, over the deaths of the bot.
func (s *pageStream) follow(ctx context.Context, after int64, out chan<- []eventlog.Line) {
	for ctx.Err() == nil {
		log, changed := s.web.p.bot.events()
		if log != nil {
			after = s.followLog(ctx, log, after, out)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (s *pageStream) followLog(ctx context.Context, log *eventlog.Log, after int64, out chan<- []eventlog.Line) int64 {
	sub := log.Subscribe(s.chat, after)
	defer sub.Close()
	for {
		evs, err := sub.Next(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, eventlog.ErrClosed) {
				s.web.p.log.Warn("run events could not be read", "chat", s.chat, "error", err)
			}
			return sub.Last()
		}
		lines := make([]eventlog.Line, 0, len(evs))
		for _, ev := range evs {
			data, err := agent.Encode(ev.Event)
			if err != nil {
				return sub.Last()
			}
			lines = append(lines, eventlog.Line{Seq: ev.Seq, RunID: ev.RunID, At: ev.At.UnixMilli(), Event: data})
		}
		select {
		case out <- lines:
		case <-ctx.Done():
			return sub.Last()
		}
	}
}

func (s *pageStream) event(name string, data []byte) error {
	return s.send(fmt.Sprintf("event: %s\nid: %d.%d\ndata: %s\n\n", name, s.rev, s.seq, data))
}

func (s *pageStream) send(text string) error {
	if err := s.ctl.SetWriteDeadline(time.Now().Add(streamTimeout)); err != nil {
		return err
	}
	if _, err := s.rw.Write([]byte(text)); err != nil {
		return err
	}
	return s.ctl.Flush()
}
