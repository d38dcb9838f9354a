package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	"typist/agent"
	"typist/agent/eventlog"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/typing"
)

// fake is a miniature platform without a network, on the same world as the real miniatures, so
// that the turn code's timing can be tested in a synctest bubble. Its numbers are Telegram's
// unless a test says otherwise.
type fake struct {
	name  string
	world *sim.World
	caps  adapters.Capabilities
	limit int
	sink  adapters.Sink
	ready chan struct{}
	slow  time.Duration // every call
	// editing is how long an edit takes on top of that.
	editing time.Duration
	mu      sync.Mutex
	// fail, if set, decides what a call comes to; done tells whether it is carried out all the same.
	// It is called under mu, so it must not wait.
	fail func(op sim.Op, chat adapters.Chat, text string) (err error, done bool)
}

func newFake(name string) *fake {
	w := sim.NewWorld(sim.Person{ID: "bot", Name: "typist"})
	w.AddPerson(sim.Person{ID: "ann", Name: "Ann"})
	w.AddPerson(sim.Person{ID: "bob", Name: "Bob"})
	w.AddChat(sim.Chat{ID: "dm", Direct: true, Members: []string{"ann"}})
	w.AddChat(sim.Chat{ID: "room", Members: []string{"ann", "bob"}})
	return &fake{name: name, world: w, limit: 4096, ready: make(chan struct{}), caps: adapters.Capabilities{
		IndicatorLife: 5 * time.Second, EditKeepsIndicator: true, MaxButtonData: 64,
		EditPaceDirect: 1500 * time.Millisecond, EditPaceGroup: 3 * time.Second,
		PostPaceDirect: time.Second, PostPaceGroup: 3 * time.Second, PostBurst: 3,
		CallsPerSecond: 28, CallBurst: 10, SilentPosts: true, UniqueNames: true, RepliesInGroups: true, ReactionsOnInput: true,
	}}
}

func (f *fake) Name() string                        { return f.name }
func (f *fake) Capabilities() adapters.Capabilities { return f.caps }
func (f *fake) Run(ctx context.Context, s adapters.Sink) error {
	f.sink = s
	s.Status(f.name, adapters.Status{Connected: true})
	close(f.ready)
	<-ctx.Done()
	return nil
}

func (f *fake) Fit(doc rich.Doc) []rich.Doc {
	return rich.Split(doc, f.limit, func(d rich.Doc) int { return rich.UTF16Len(rich.Text(d)) })
}

// call does what every call has in common.
func (f *fake) call(ctx context.Context, op sim.Op, chat adapters.Chat, text string, do func() error) error {
	began := time.Now()
	record := func(err error) error {
		c := sim.Call{At: began, Took: time.Since(began), Op: op, Chat: chat.ID, Thread: chat.Thread, Status: 200}
		if err != nil {
			c.Status, c.Error = 400, err.Error()
		}
		f.world.Record(c)
		return err
	}
	if d := f.takes(op); d > 0 && !waitFor(ctx, d) {
		return record(errors.Join(adapters.ErrUnknownOutcome, ctx.Err()))
	}
	if err, done := f.fails(op, chat, text); err != nil {
		if done {
			_ = do()
		}
		return record(err)
	}
	return record(do())
}

func (f *fake) takes(op sim.Op) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op == sim.OpEdit {
		return f.slow + f.editing
	}
	return f.slow
}

func (f *fake) fails(op sim.Op, chat adapters.Chat, text string) (err error, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		return nil, false
	}
	return f.fail(op, chat, text)
}

// now changes what fail does, or what it looks at, while calls go on.
func (f *fake) now(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func show(post adapters.Post) string { return rich.Text(post.Doc) }

func simButtons(rows [][]adapters.Button) [][]sim.Button {
	var out [][]sim.Button
	for _, row := range rows {
		var r []sim.Button
		for _, b := range row {
			r = append(r, sim.Button{Text: b.Text, Data: b.Data})
		}
		out = append(out, r)
	}
	return out
}

func (f *fake) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	var ref adapters.Ref
	err := f.call(ctx, sim.OpSend, chat, show(post), func() error {
		if n := rich.UTF16Len(show(post)); n > f.limit || n == 0 {
			return fmt.Errorf("%d units: %w", n, adapters.ErrInvalid)
		}
		ref = adapters.Ref{Chat: chat, ID: strconv.FormatInt(f.world.NextID(), 10)}
		f.world.Post(sim.Message{ID: ref.ID, Chat: chat.ID, Thread: chat.Thread, From: f.world.Bot(), Text: show(post), Buttons: simButtons(post.Buttons), ReplyTo: post.ReplyTo, Silent: post.Silent})
		return nil
	})
	return ref, err
}

func (f *fake) Edit(ctx context.Context, ref adapters.Ref, post adapters.Post) error {
	return f.call(ctx, sim.OpEdit, ref.Chat, show(post), func() error {
		if !f.world.Change(ref.Chat.ID, ref.ID, func(m *sim.Message) { m.Text, m.Buttons = show(post), simButtons(post.Buttons) }) {
			return adapters.ErrGone
		}
		return nil
	})
}

func (f *fake) Delete(ctx context.Context, ref adapters.Ref) error {
	return f.call(ctx, sim.OpDelete, ref.Chat, "", func() error {
		f.world.Delete(ref.Chat.ID, ref.ID)
		return nil
	})
}

func (f *fake) Pulse(ctx context.Context, chat adapters.Chat, ind adapters.Indication) error {
	return f.call(ctx, sim.OpPulse, chat, ind.Text, func() error {
		f.world.Pulse(chat.ID, chat.Thread, ind.Text, f.caps.IndicatorLife)
		return nil
	})
}

func (f *fake) React(ctx context.Context, ref adapters.Ref, _ adapters.Reaction, on bool) error {
	return f.call(ctx, sim.OpReact, ref.Chat, "", func() error {
		f.world.React(ref.Chat.ID, ref.ID, "bot", "👀", on)
		return nil
	})
}

// clearing is a fake with an explicit clear, as Slack has.
type clearing struct{ *fake }

func newClearing(name string) clearing {
	f := newFake(name)
	f.caps.IndicatorLife, f.caps.EditKeepsIndicator, f.caps.IndicatorText = 2*time.Minute, false, true
	return clearing{f}
}

func (c clearing) Clear(ctx context.Context, chat adapters.Chat, _ string) error {
	return c.call(ctx, sim.OpClear, chat, "", func() error {
		c.world.ClearIndicator(chat.ID, chat.Thread)
		return nil
	})
}

// finding is a fake whose posts can be looked up by their key, as Slack's and Discord's can.
type finding struct {
	*fake
	keys map[string]string
}

func (f finding) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	ref, err := f.fake.Send(ctx, chat, post)
	if ref.ID != "" {
		f.now(func() { f.keys[post.Key] = ref.ID })
	}
	return ref, err
}

func (f finding) Find(_ context.Context, chat adapters.Chat, key string, _ time.Time) (adapters.Ref, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, ok := f.keys[key]
	return adapters.Ref{Chat: chat, ID: id}, ok, nil
}

// backendFunc is a backend made of a function.
type backendFunc func(ctx context.Context, req agent.Request, emit func(agent.Event)) error

func (f backendFunc) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	return f(ctx, req, emit)
}

// say emits a text.
func say(emit func(agent.Event), id, text string) {
	emit(agent.TextStarted{ID: id})
	emit(agent.TextContent{ID: id, Delta: text})
	emit(agent.TextEnded{ID: id})
}

// tool emits a call that takes d.
func tool(ctx context.Context, emit func(agent.Event), id, name, args string, d time.Duration) bool {
	emit(agent.ToolCallStarted{ID: id, Name: name})
	emit(agent.ToolCallArgs{ID: id, Delta: args})
	emit(agent.ToolCallEnded{ID: id})
	if !waitFor(ctx, d) {
		return false
	}
	emit(agent.ToolCallResult{ID: id, Content: "ok"})
	return true
}

// bench is a running hub on fakes.
type bench struct {
	t     *testing.T
	hub   *Hub
	store *store.Store
	chat  *fake
	stop  context.CancelFunc
	ended chan error
	seq   int
}

// setup is what a test changes of the usual bench.
type setup struct {
	adapter  adapters.Adapter
	fake     *fake
	backend  agent.Backend
	tools    agent.Toolbox
	settings func(*Settings)
	store    *store.Store
}

func settings(channel string) Settings {
	return Settings{
		Channels: map[string]Channel{channel: {AllowFrom: []string{"ann"}, Groups: map[string]Group{"*": {RequireMention: false}}, Typing: typing.Level{Name: "channels." + channel}}},
		Agents:   map[string]Agent{"": {Backend: "main", Timeout: 30 * time.Minute, Reasoning: progress.ReasoningStream}},
		Queue:    Followup, OnEdit: EditBranch, View: progress.Summary, Delay: 1500 * time.Millisecond, NotifyAfter: 15 * time.Second,
		Lang: progress.English, SilentTokens: typing.NewSilentTokens([]string{"NO_REPLY", "HEARTBEAT_OK"}),
	}
}

// start runs a hub in the current bubble; the test's end stops it.
func start(t *testing.T, s setup) *bench {
	t.Helper()
	if s.fake == nil {
		s.fake = newFake("telegram")
	}
	if s.adapter == nil {
		s.adapter = s.fake
	}
	st := s.store
	if st == nil {
		var err error
		if st, err = store.Open(t.Context(), store.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	set := settings(s.fake.name)
	if s.settings != nil {
		s.settings(&set)
	}
	hub, err := New(Options{Store: st, Events: eventlog.New(st), Channels: []adapters.Adapter{s.adapter},
		Backends: map[string]Backend{"main": {Backend: s.backend, Tools: s.tools}}, Settings: set,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &bench{t: t, hub: hub, store: st, chat: s.fake, stop: stop, ended: make(chan error, 1)}
	go func() { b.ended <- hub.Run(ctx) }()
	<-s.fake.ready
	t.Cleanup(func() {
		b.shut()
		if s.store == nil {
			_ = st.Close()
		}
	})
	return b
}

// shut stops the hub, once.
func (b *bench) shut() {
	b.stop()
	if b.ended != nil {
		if err := <-b.ended; err != nil {
			b.t.Error(err)
		}
		b.ended = nil
	}
}

// openStore opens a store in a directory, which survives a crash.
func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// crash ends the hub as kill -9 would: from now on nothing is stored and nothing is sent.
func (b *bench) crash() {
	b.chat.now(func() {
		b.chat.fail = func(sim.Op, adapters.Chat, string) (error, bool) { return adapters.ErrDenied, false }
	})
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
	b.shut()
}

// again is the same platform for the next process.
func (f *fake) again() *fake {
	next := newFake(f.name)
	next.world = f.world
	return next
}

// write delivers a person's message as the platform would and returns its id.
func (b *bench) write(chat, text string, change ...func(*adapters.Message)) string {
	b.t.Helper()
	b.seq++
	c, _ := b.chat.world.Chat(chat)
	kind := adapters.Group
	if c.Direct {
		kind = adapters.Direct
	}
	id := strconv.FormatInt(b.chat.world.NextID(), 10)
	m := adapters.Message{Origin: adapters.Origin{EventID: "e" + id, Chat: adapters.Chat{Channel: b.chat.name, ID: chat}, Kind: kind,
		From: adapters.User{ID: "ann", Name: "Ann"}, At: time.Now()}, ID: id, Text: text}
	for _, f := range change {
		f(&m)
	}
	b.chat.world.Post(sim.Message{ID: id, Chat: chat, Thread: m.Chat.Thread, From: sim.Person{ID: m.From.ID, Name: m.From.Name}, Text: text})
	if err := b.chat.sink.Deliver(b.t.Context(), m); err != nil {
		b.t.Errorf("deliver %q: %v", text, err)
	}
	return id
}

func mentioned(m *adapters.Message) { m.Mentioned = true }

// press presses the button with that label under the newest message that has it.
func (b *bench) press(chat, label string) {
	b.t.Helper()
	msgs := b.chat.world.Messages(chat, "*")
	for i := len(msgs) - 1; i >= 0; i-- {
		for _, row := range msgs[i].Buttons {
			for _, button := range row {
				if button.Text == label {
					b.pressData(chat, msgs[i].ID, button.Data)
					return
				}
			}
		}
	}
	b.t.Errorf("no button %q in:\n%s", label, b.text(chat))
}

func (b *bench) pressData(chat, message, data string) {
	b.t.Helper()
	b.seq++
	c, _ := b.chat.world.Chat(chat)
	kind := adapters.Group
	if c.Direct {
		kind = adapters.Direct
	}
	p := adapters.Press{Origin: adapters.Origin{EventID: fmt.Sprint("press", b.seq), Chat: adapters.Chat{Channel: b.chat.name, ID: chat}, Kind: kind,
		From: adapters.User{ID: "ann", Name: "Ann"}}, ID: message, Data: data}
	if err := b.chat.sink.Deliver(b.t.Context(), p); err != nil {
		b.t.Error(err)
	}
}

// text is the chat as people read it.
func (b *bench) text(chat string) string { return b.threadText(chat, "*") }

// threadText is one thread of it.
func (b *bench) threadText(chat, thread string) string {
	var lines []string
	for _, m := range b.chat.world.Messages(chat, thread) {
		line := m.From.Name + ": " + m.Text
		for _, row := range m.Buttons {
			for _, button := range row {
				line += " [" + button.Text + "]"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// bot lists the bot's standing messages in a chat.
func (b *bench) bot(chat string) []string {
	var out []string
	for _, m := range sim.FromBot(b.chat.world.Messages(chat, "*")) {
		out = append(out, m.Text)
	}
	return out
}

// after lets d pass and everything settle.
func after(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

type simMessage = sim.Message
