package playground

import (
	"slices"
	"strconv"
	"time"

	"typist/adapters/sim"
)

// How often a world is looked at while it changes, and how much of it the mirror keeps.
const (
	lookEvery    = 60 * time.Millisecond
	keptMessages = 400 // per platform
	keptShows    = 60  // intervals per chat and thread
	newShows     = 3   // of them can begin or change between two looks
	keptCalls    = 400 // per platform
)

// watch copies the platform's world into the mirror whenever it changes, until the town closes.
func (t *town) watch(m *mirror) {
	w := &watcher{town: t, mirror: m}
	t.done.Go(func() {
		for {
			changed := t.World().Changed()
			w.look()
			select {
			case <-changed:
			case <-t.stop:
				return
			}
			pause := time.NewTimer(lookEvery)
			select {
			case <-pause.C:
			case <-t.stop:
				pause.Stop()
				return
			}
		}
	})
}

// watcher knows what of a world is in the mirror.
type watcher struct {
	town     *town
	mirror   *mirror
	messages []string // keys, oldest first
	known    map[string]bool
	calls    int64
	callKeys []string
	shows    map[string][]string // chat/thread → keys, oldest first
}

func (w *watcher) look() {
	world, name := w.town.World(), w.town.Name()
	for _, c := range world.Chats() {
		w.mirror.put("chat", "chat/"+name+"/"+c.ID, chatView{Platform: name, Chat: c})
		w.lookAtMessages(world.Everything(c.ID, "*"))
		w.lookAtShows(c.ID, "")
		for _, th := range c.Threads {
			w.lookAtShows(c.ID, th.ID)
		}
	}
	calls, next := world.CallsAfter(w.calls)
	for i, c := range calls {
		n := next - int64(len(calls)-i)
		key := "call/" + name + "/" + strconv.FormatInt(n, 10)
		w.mirror.put("call", key, callOf(name, n, c))
		w.callKeys = append(w.callKeys, key)
	}
	w.calls = next
	w.callKeys = w.trim(w.callKeys, keptCalls)
	w.mirror.put("faults", "faults/"+name, faultsView{Platform: name, Faults: faultsOf(world.Faults())})
}

func (w *watcher) lookAtMessages(list []sim.Message) {
	if w.known == nil {
		w.known = map[string]bool{}
	}
	name := w.town.Name()
	for _, m := range list[max(0, len(list)-keptMessages):] {
		key := "message/" + name + "/" + m.Chat + "/" + m.ID
		w.mirror.put("message", key, messageOf(name, m))
		if !w.known[key] {
			w.known[key] = true
			w.messages = append(w.messages, key)
		}
	}
	// The mirror keeps a few more than it is shown, so that what was let go does not come back.
	if over := len(w.messages) - 4*keptMessages; over > 0 {
		for _, key := range w.messages[:over] {
			w.mirror.drop(key)
			delete(w.known, key)
		}
		w.messages = slices.Clone(w.messages[over:])
	}
}

func (w *watcher) lookAtShows(chat, thread string) {
	if w.shows == nil {
		w.shows = map[string][]string{}
	}
	name := w.town.Name()
	place := chat + "/" + thread
	list := w.town.World().Timeline(chat, thread)
	for _, in := range list[max(0, len(list)-newShows):] { // the earlier ones change no more
		key := "show/" + name + "/" + place + "/" + strconv.FormatInt(in.Start.UnixMicro(), 10)
		w.mirror.put("show", key, showOf(name, chat, thread, in))
		if keys := w.shows[place]; !slices.Contains(keys[max(0, len(keys)-newShows):], key) {
			w.shows[place] = append(keys, key)
		}
	}
	w.shows[place] = w.trim(w.shows[place], keptShows)
}

// trim lets the oldest keys go.
func (w *watcher) trim(keys []string, limit int) []string {
	over := len(keys) - limit
	if over <= 0 {
		return keys
	}
	for _, key := range keys[:over] {
		w.mirror.drop(key)
	}
	return slices.Clone(keys[over:])
}
