package heartbeat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"
)

// okToken is the answer that says that nothing needs attention (H2).
const okToken = "HEARTBEAT_OK"

const (
	okAround = 300            // characters around the token that are not worth a message (H2)
	repeat   = 24 * time.Hour // an identical text is not sent again within this (H4)
)

// quiet reports whether an answer only says that all is well: the token at either end with at most
// 300 characters beside it (H2).
func quiet(text string) bool {
	clean := strings.Trim(strings.TrimSpace(text), "*_`~.!\"' \n\t")
	upper := strings.ToUpper(clean)
	for _, rest := range []struct {
		is   bool
		text string
	}{
		{strings.HasPrefix(upper, okToken), strings.TrimPrefix(upper, okToken)},
		{strings.HasSuffix(upper, okToken), strings.TrimSuffix(upper, okToken)},
	} {
		if rest.is && utf8.RuneCountInString(strings.TrimSpace(rest.text)) <= okAround {
			return true
		}
	}
	return false
}

// Text implements turn.Heartbeats: what of an answer the chat gets (H2, H4).
func (r *Runner) Text(ctx context.Context, chat, agent, text string) string {
	if quiet(text) || strings.TrimSpace(text) == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	key, digest := "heartbeat/said/"+chat, hex.EncodeToString(sum[:8])
	said, err := r.store.Load(ctx, key)
	if err != nil {
		r.log.Error("the last heartbeat's text could not be read; this one is sent", "agent", agent, "error", err)
	}
	now := time.Now()
	var kept []string
	for _, entry := range strings.Fields(said) {
		old, at, _ := strings.Cut(entry, "@")
		t, err := time.Parse(time.RFC3339, at)
		if err != nil || now.Sub(t) >= repeat {
			continue
		}
		if old == digest {
			r.log.Info("a heartbeat's text is the same as within the last 24 h and is not sent", "agent", agent, "chat", chat)
			return ""
		}
		kept = append(kept, entry)
	}
	kept = append(kept, digest+"@"+now.UTC().Format(time.RFC3339))
	if err := r.store.Save(ctx, key, strings.Join(kept[max(0, len(kept)-maxSaid):], " ")); err != nil {
		r.log.Error("a heartbeat's text could not be remembered", "agent", agent, "error", err)
	}
	return text
}

// maxSaid bounds the texts that are remembered per chat: more than one every half hour of a day.
const maxSaid = 64
