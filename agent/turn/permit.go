package turn

import (
	"container/heap"
	"time"
)

// permit is a request for one call. grant is called once, when the call may be made; it must not block.
type permit struct {
	class class
	chat  string // the platform's chat id: limits hold over all its threads
	group bool
	op    callOp
	grant func()
	gone  bool // withdrawn

	seq uint64    // order of the requests
	at  time.Time // not before: its chat has to wait
}

// permits is a heap of permits; less orders it.
type permits struct {
	list []*permit
	less func(a, b *permit) bool
}

func (h *permits) Len() int           { return len(h.list) }
func (h *permits) Less(i, j int) bool { return h.less(h.list[i], h.list[j]) }
func (h *permits) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *permits) Push(x any)         { h.list = append(h.list, x.(*permit)) }

func (h *permits) Pop() any {
	last := len(h.list) - 1
	r := h.list[last]
	h.list[last] = nil
	h.list = h.list[:last]
	return r
}

func (h *permits) pop() *permit { return heap.Pop(h).(*permit) }
