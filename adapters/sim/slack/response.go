package slack

import (
	"encoding/json"
	"net/http"
	"time"

	"typist/adapters/sim"
)

// responseURL lets the app answer the person who used a command or a button, five times within
// half an hour.
type responseURL struct {
	channel, user string
	uses          int
	until         time.Time
}

// newResponse makes one. Callers hold mu.
func (s *Server) newResponse(channel, user string) string {
	id := s.nextID("R")
	s.responses[id] = &responseURL{channel: channel, user: user, uses: responseUses, until: time.Now().Add(responseLife)}
	return s.ln.URL() + "/respond/" + id
}

func (s *Server) serveResponse(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	url := s.responses[r.PathValue("id")]
	s.mu.Unlock()
	log := sim.Call{Op: sim.OpSend, Method: "response_url"}
	if url != nil {
		log.Chat = url.channel
	}
	s.world.Intercept(rw, log, s.ctx.Done(), func() *sim.Answer {
		plain := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		var body struct {
			Text            string          `json:"text"`
			Blocks          json.RawMessage `json:"blocks"`
			ResponseType    string          `json:"response_type"`
			ThreadTS        string          `json:"thread_ts"`
			ReplaceOriginal bool            `json:"replace_original"`
			DeleteOriginal  bool            `json:"delete_original"`
		}
		s.mu.Lock()
		spent := url == nil || url.uses == 0 || time.Now().After(url.until)
		if !spent {
			url.uses--
		}
		s.mu.Unlock()
		if spent {
			return &sim.Answer{Status: http.StatusNotFound, Header: plain, Body: []byte("used_url"), Error: "used_url"}
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			return &sim.Answer{Status: http.StatusBadRequest, Header: plain, Body: []byte("invalid_payload"), Error: "invalid_payload"}
		}
		if f := s.checkBlocks(body.Blocks); f != nil {
			return &sim.Answer{Status: http.StatusBadRequest, Header: plain, Body: []byte(f.code), Error: f.code}
		}
		body.Blocks = nameBlocks(body.Blocks)
		if body.Text == "" && blockCount(body.Blocks) == 0 {
			return &sim.Answer{Status: http.StatusBadRequest, Header: plain, Body: []byte("no_text"), Error: "no_text"}
		}
		if body.ResponseType == "in_channel" {
			m := &message{channel: url.channel, user: botUserID, botID: botID, text: body.Text, blocks: body.Blocks}
			s.publish(m, body.ThreadTS, pinged(body.Text, body.Blocks, "", ""))
		} else {
			s.private(url.channel, body.ThreadTS, url.user, body.Text, body.Blocks)
		}
		return &sim.Answer{Header: plain, Body: []byte("ok")}
	}, s.refuse)
}
