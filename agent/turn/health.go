package turn

import "typist/adapters"

// ChannelState is how a channel is (O1).
type ChannelState struct {
	adapters.Status
	Denied error // the newest refusal of the indicator (T11); nil: none
}

// Channels tells the state of every channel.
func (h *Hub) Channels() map[string]ChannelState {
	out := map[string]ChannelState{}
	for name, c := range h.channels {
		c.mu.Lock()
		out[name] = ChannelState{Status: c.state, Denied: c.denied}
		c.mu.Unlock()
	}
	return out
}

// Runs is how many runs are in flight.
func (h *Hub) Runs() int { return int(h.active.Load()) }

// Resolver is what finds a chat of the channel by what a config says of it (H1); false: there is none.
func (h *Hub) Resolver(channel string) (adapters.Resolver, bool) {
	c := h.channels[channel]
	if c == nil {
		return nil, false
	}
	r, ok := c.adapter.(adapters.Resolver)
	return r, ok
}
