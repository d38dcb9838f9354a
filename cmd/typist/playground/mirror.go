package playground

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"
)

// mirror holds what the pages show, as encoded items with numbers that only grow: a page says the
// last number it has seen and gets the items that are newer. All pages share it, so what one costs
// is its place in it.
type mirror struct {
	mu      sync.Mutex
	rev     int64
	byKey   map[string]*list.Element
	order   *list.List // of *item, by rev
	changed chan struct{}
}

// item is one thing that a page shows: a message, an interval of an indicator, a call.
type item struct {
	Key  string          `json:"key"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
	rev  int64
}

func newMirror() *mirror {
	return &mirror{byKey: map[string]*list.Element{}, order: list.New(), changed: make(chan struct{})}
}

// put stores the state of an item; the same state again changes nothing.
func (m *mirror) put(kind, key string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic("playground: " + key + ": " + err.Error()) // plain data: a programming error
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byKey[key]; ok {
		if bytes.Equal(e.Value.(*item).Data, data) {
			return
		}
		m.order.Remove(e)
	}
	m.rev++
	m.byKey[key] = m.order.PushBack(&item{Key: key, Kind: kind, Data: data, rev: m.rev})
	close(m.changed)
	m.changed = make(chan struct{})
}

// drop forgets an item. Pages that have it keep it within their own bounds.
func (m *mirror) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byKey[key]; ok {
		m.order.Remove(e)
		delete(m.byKey, key)
	}
}

// since lists what is newer than rev, the number to ask with next time, and a channel that is
// closed at the next change.
func (m *mirror) since(rev int64) (items []*item, latest int64, changed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.order.Back()
	n := 0
	for ; e != nil && e.Value.(*item).rev > rev; e = e.Prev() {
		n++
	}
	items = make([]*item, 0, n)
	if e == nil {
		e = m.order.Front()
	} else {
		e = e.Next()
	}
	for ; e != nil; e = e.Next() {
		items = append(items, e.Value.(*item))
	}
	return items, m.rev, m.changed
}
