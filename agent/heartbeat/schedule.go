// Package heartbeat starts agents by the clock (H): when a tick is due, which chat it resolves
// to, and what of its answer is worth a message. The turn itself is agent/turn's.
package heartbeat

import (
	"fmt"
	"strconv"
	"time"
)

// Schedule is one agent's heartbeat (H1).
type Schedule struct {
	Agent     string
	Every     time.Duration
	Target    string // last, none, or a channel's name
	To        string // in a channel: chat id or name, "chat/thread" in a thread or topic
	Prompt    string // "" = DefaultPrompt
	Checklist string // file; "" = none (H7)
	Deliver   bool
	Hours     Hours
}

// The targets that are no channel.
const (
	TargetLast = "last"
	TargetNone = "none"
)

// Hours are the part of the day in which heartbeats run, in the zone's own time: on days when the
// clocks change, it is the clock on the wall that counts. The zero value is the whole day.
type Hours struct {
	Start, End Clock // End before Start: over midnight; both zero or equal: the whole day
	Zone       *time.Location
}

// Clock is a time of day in minutes since midnight; 24:00 is 1440.
type Clock int

// ParseClock reads "08:00"; "24:00" is the end of the day.
func ParseClock(s string) (Clock, error) {
	var h, m int
	if _, err := fmt.Sscanf(s, "%d:%d", &h, &m); err != nil || len(s) > 5 || h < 0 || m < 0 || m > 59 || h*60+m > 24*60 {
		return 0, fmt.Errorf("time of day %q (allowed: 00:00 to 24:00)", s)
	}
	return Clock(h*60 + m), nil
}

// Contain reports whether t lies in the hours.
func (h Hours) Contain(t time.Time) bool {
	if h.Start == h.End {
		return true
	}
	zone := h.Zone
	if zone == nil {
		zone = time.Local
	}
	local := t.In(zone)
	now := Clock(local.Hour()*60 + local.Minute())
	if h.Start < h.End {
		return now >= h.Start && now < h.End
	}
	return now >= h.Start || now < h.End
}

// slot names the tick that is due at t: ticks lie at multiples of every since the epoch, so that
// all replicas and all restarts mean the same by it (H6, H8).
func (s Schedule) slot(t time.Time) int64 { return t.UnixNano() / int64(s.Every) }

// next is when the tick after t is due.
func (s Schedule) next(t time.Time) time.Time {
	return time.Unix(0, (s.slot(t)+1)*int64(s.Every))
}

func slotName(slot int64) string { return strconv.FormatInt(slot, 10) }
