package turn

import (
	"context"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/session"
	"typist/agent/store"
	"typist/typing"
)

// run is one execution of the agent for a turn, as its lane sees it. Only the lane's goroutine
// touches it, except feed (its own lock) and what work is given.
type run struct {
	lane    *lane
	id      string
	in      input
	agent   Agent
	backend Backend
	anchor  string // the person's message: a status hangs on it, a reply answers it
	started time.Time
	phase   phase
	cancel  context.CancelCauseFunc
	feed    *feed

	ctl      typing.Controller
	typing   typing.Resolved
	pulse    *pulse // in flight
	pulsed   bool   // a first pulse was sent
	coverage coverage
	status   string // the text that the newest pulse showed
	statusAt time.Time
	restated bool // something has happened since, so the text may be another one

	board      *progress.Board
	transcript agent.Transcript
	reasoning  progress.Reasoning
	filters    map[string]*filter // by area and text id (T5)
	silent     bool               // the run's newest text is a silent token (T5)
	visible    bool               // something that `message` mode starts on has happened (P1)
	files      []adapters.File

	progress *slot
	tick     time.Time   // next edit only for the clock (P6)
	ackStop  time.Time   // when a stop was asked for; zero: it was not
	cause    error       // why its context has ended
	deadline time.Time   // by when the backend must have ended; zero: its context goes on
	after    []letter    // what has to wait until the turn is over
	stops    []commanded // native commands that asked for it, to be answered when it is done

	unsaved []agent.Event // not stored yet, in order
	saveAt  time.Time
	saving  bool
	flushes []chan struct{} // closed when the next batch is stored
	// heldArgs are those of calls that are still being written, by area and id.
	heldArgs  map[string]*heldArgs
	heldOrder []string

	approvals map[string]*approval
	asked     bool            // a question stands below the progress message
	decided   map[string]bool // questions that somebody has answered
	begun     *begun          // what work has stored; nil before
	terminal  agent.Event
	finishAt  time.Time // the latest moment to go on without the pulse or the clear in flight
	clearing  bool
	ticket    *permit        // asked for while queued
	admitted  bool           // the next call of the answer has its permit already
	offers    []inputArrived // messages that the backend is being offered, in order (S10)
	steered   []steered

	// Of a run that the last process left (S9):
	recovered      bool
	posts          []store.Post
	storedProgress string
	sent           map[int]fate // parts of the answer that stand
	endedAt        time.Time
	reclaimed      bool // what may be lost was looked for
	asking         bool // the platform is being asked what stands

	cut        bool // typingMaxSeconds have ended the indicator
	superseded bool // another input took its place; nothing of it stays in the chat
	details    bool // its progress message shows the trace (P8)
}

// phase is how far a turn has come.
type phase uint8

const (
	running    phase = iota // the backend works, or is about to
	stopping                // a stop was asked for, the backend has not ended
	queued                  // the run has ended; its answer waits for the platform's budget
	landing                 // the run has ended: last pulse, last events
	delivering              // the answer is on its way
	over
)

// begun is what the store has of a turn once it began.
type begun struct {
	parent   string           // node that the run's own nodes hang on
	versions session.Versions // where the answer stands among its turn's (S8)
	err      error
}

// newRun makes the state of a turn; nothing has happened yet.
func (l *lane) newRun(in input) *run {
	now := time.Now()
	settings := l.hub.settings()
	ag := settings.agent(in.Agent)
	if in.Agent == "" {
		ag = l.agent()
	}
	r := &run{
		lane: l, id: newID(), in: in, agent: ag, backend: l.hub.backends[ag.Backend],
		anchor: in.Message.ID, started: now,
		filters: map[string]*filter{}, heldArgs: map[string]*heldArgs{}, reasoning: l.prefs.reasoningOr(ag.Reasoning), approvals: map[string]*approval{}, decided: map[string]bool{},
	}
	levels := append([]typing.Level{l.prefs.typing, settings.Channels[l.chat.Channel].Typing, settings.SessionTyping}, ag.Levels...)
	r.typing = typing.Resolve(typing.Situation{
		Direct: l.kind == adapters.Direct, Mentioned: in.Message.Mentioned, Heartbeat: in.Heartbeat != nil,
	}, levels...)
	caps := l.chn.caps
	params := typing.Params{Mode: r.typing.Mode, Heartbeat: in.Heartbeat != nil, Interval: r.typing.Interval,
		Life: caps.IndicatorLife, Max: ag.TypingMax}
	if h := in.Heartbeat; h != nil {
		starts := typing.HeartbeatTyping{Mode: r.typing.Mode, DeliverOff: !h.Deliver, NoIndicator: caps.IndicatorLife == 0}.Starts()
		if !starts {
			params.Mode = typing.Never
		}
	}
	r.ctl = typing.NewController(params)
	r.board = progress.NewBoard(progress.Options{Lang: l.lang(), Reasoning: r.reasoning, StartedAt: now})
	r.feed = newFeed(func() { l.mail.put(fed{run: r}) })
	return r
}

// fed: the run's feed has something to read.
type fed struct{ run *run }

func (fed) isLetter() {}

func (f fed) read(*lane) { f.run.drain(time.Now()) }

// drain reads the feed.
func (r *run) drain(now time.Time) {
	for _, ev := range r.feed.take() {
		r.handle(ev, now)
	}
}

// begin starts the turn (hop 3): the indicator at once (T1 instant), the rest on a goroutine.
func (r *run) begin() {
	now := time.Now()
	r.ctl.Signal(now, typing.LoopStarted)
	r.sendPulse(now)
	ctx, cancel := context.WithCancelCause(r.lane.hub.runCtx)
	r.cancel = cancel
	r.lane.hub.active.Add(1)
	r.lane.hub.go_(func() { r.work(ctx) })
}

// handle takes one event of the run (hops 4 and 5).
func (r *run) handle(ev agent.Event, now time.Time) {
	if r.terminal != nil {
		return
	}
	r.transcript.Apply(ev)
	for _, out := range r.filter(ev) {
		r.board.Apply(out, now)
		r.signal(out, now)
		r.keep(out)
	}
	r.restated = true
	if r.progress != nil && r.phase == running {
		r.progress.touch(r.lane)
	}
	if agent.Terminal(ev) {
		r.terminal = ev
		r.land(now)
	}
}

// signal tells the typing controller what the event means to it (T1).
func (r *run) signal(ev agent.Event, now time.Time) {
	switch e := ev.(type) {
	case agent.ReasoningStarted, agent.ReasoningContent:
		if r.reasoning == progress.ReasoningStream {
			r.ctl.Signal(now, typing.Reasoning)
		}
	case agent.TextContent:
		r.visible = true
		r.ctl.Signal(now, typing.Text)
	case agent.ToolCallEnded, agent.StepStarted, agent.SubagentStarted:
		r.visible = true
		r.ctl.Signal(now, typing.Execution)
	case agent.ApprovalRequested, agent.ApprovalResolved, agent.ToolCallResult, agent.ToolCallStarted:
		r.pauseOrResume(now)
	case agent.FileProduced:
		r.files = append(r.files, adapters.File{Name: e.Name, MIME: e.MIME, Data: e.Data})
	case agent.RunStarted, agent.RunFinished, agent.RunError, agent.ModelRequest, agent.StepFinished,
		agent.ReasoningEnded, agent.TextStarted, agent.TextEnded, agent.ToolCallArgs, agent.SubagentFinished, agent.Usage, agent.Retrying:
	}
}

// timeout is the run's ceiling (T13).
func (r *run) timeout() time.Duration {
	if r.agent.Timeout > 0 {
		return r.agent.Timeout
	}
	return 30 * time.Minute
}

// state is what the store calls the way the run ended.
func (r *run) state() store.RunState {
	e, ok := r.terminal.(agent.RunFinished)
	if !ok {
		return store.RunFailed
	}
	switch e.Outcome {
	case agent.Success:
		if r.silent {
			return store.RunSilent
		}
		return store.RunDone
	case agent.Cancelled:
		return store.RunStopped
	case agent.Interrupt:
		return store.RunInterrupted
	}
	return store.RunFailed
}
