package turn

import (
	"typist/adapters"
)

// delivery brings a text of one or more messages to the chat, in order, reusing messages that
// stand there already: the progress message that becomes the answer, or the answer of another
// branch (P12, S8). It belongs to the lane.
type delivery struct {
	lane  *lane
	posts []adapters.Post
	slots []*slot
	done  func(slots []*slot, err error)
	// record makes a new part findable after a crash; its result can be nil.
	record func(part int) durable
}

// deliver starts a delivery. reuse are existing messages, first part first; those beyond the
// number of posts are deleted at the end. record makes a new part findable after a crash; nil
// where nobody needs that.
func (l *lane) deliver(posts []adapters.Post, reuse []*slot, record func(part int) durable, done func([]*slot, error)) {
	d := &delivery{lane: l, posts: posts, done: done, record: record}
	if record == nil {
		d.record = func(int) durable { return nil }
	}
	for i, post := range posts {
		s := &slot{key: newID()}
		if i < len(reuse) {
			s = reuse[i]
		}
		if s.durable == nil && record != nil {
			s.durable = record(i)
		}
		s.class = classAnswer
		s.dead, s.held, s.fails = false, false, 0
		s.show(post)
		d.slots = append(d.slots, s)
	}
	for _, s := range reuse[min(len(posts), len(reuse)):] {
		s.drop()
		l.out.push(s)
	}
	d.part(0)
}

// part sends part i and those after it.
func (d *delivery) part(i int) {
	if i == len(d.slots) {
		d.done(d.slots, nil)
		return
	}
	s := d.slots[i]
	s.settled = func(err error) {
		if err == nil && s.lost && !samePost(s.shown, d.posts[i]) {
			// What was lost is the progress message that this part was to be edited into.
			fresh := &slot{key: newID(), class: classAnswer, durable: d.record(i)}
			fresh.show(d.posts[i])
			fresh.settled = func(err error) { d.settled(i, err) }
			d.slots[i] = fresh
			d.lane.out.push(fresh)
			return
		}
		if err != nil && s.id != "" {
			// It can't be edited in: an answer is worth a message of its own, and what stands there
			// goes, whatever becomes of that one.
			fresh := &slot{key: newID(), class: classAnswer, durable: s.durable}
			fresh.show(d.posts[i])
			fresh.settled = func(err error) {
				s.class = classFirst
				s.drop()
				d.lane.out.push(s)
				d.settled(i, err)
			}
			d.slots[i] = fresh
			d.lane.out.push(fresh)
			return
		}
		d.settled(i, err)
	}
	d.lane.out.push(s)
}

func (d *delivery) settled(i int, err error) {
	if err != nil {
		d.done(d.slots, err)
		return
	}
	d.part(i + 1)
}

// ids are the platform ids of what was delivered, as far as they are known.
func ids(slots []*slot) []string {
	var out []string
	for _, s := range slots {
		if s.id != "" {
			out = append(out, s.id)
		}
	}
	return out
}
