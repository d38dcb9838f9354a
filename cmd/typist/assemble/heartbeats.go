package assemble

import (
	"fmt"
	"time"

	"typist/agent/heartbeat"
	"typist/config"
)

// Heartbeats are the configured schedules (H1).
func Heartbeats(c *config.Config) ([]heartbeat.Schedule, error) {
	var out []heartbeat.Schedule
	for _, h := range c.Heartbeats() {
		hours, err := hoursOf(h.ActiveHours)
		if err != nil {
			return nil, fmt.Errorf("heartbeat of agent %q: %w", h.Agent, err)
		}
		out = append(out, heartbeat.Schedule{Agent: h.Agent, Every: h.Every, Target: h.Target, To: h.To, Prompt: h.Prompt,
			Checklist: h.Checklist, Deliver: h.Deliver, Hours: hours})
	}
	return out, nil
}

func hoursOf(a config.ActiveHours) (heartbeat.Hours, error) {
	if a.Start == "" && a.End == "" {
		return heartbeat.Hours{}, nil
	}
	var out heartbeat.Hours
	var err error
	if out.Start, err = heartbeat.ParseClock(a.Start); err != nil {
		return out, err
	}
	if out.End, err = heartbeat.ParseClock(a.End); err != nil {
		return out, err
	}
	out.Zone = time.Local
	if a.Timezone != "" {
		out.Zone, err = time.LoadLocation(a.Timezone)
	}
	return out, err
}
