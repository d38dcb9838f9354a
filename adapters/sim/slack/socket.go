package slack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"typist/adapters/sim"
)

// socket is one Socket Mode connection.
type socket struct {
	conn    *websocket.Conn
	gone    chan struct{}
	once    sync.Once
	writing sync.Mutex
	waiting sync.Mutex
	acks    map[string]chan struct{} // envelope id → closed when acknowledged
	life    time.Duration            // 0 = for ever
}

func (c *socket) close() {
	c.once.Do(func() {
		close(c.gone)
		c.conn.Close()
	})
}

// write sends a JSON message; a failure closes the connection.
func (c *socket) write(v any) bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(5 * time.Second)) // a failing write tells
	if err := c.conn.WriteJSON(v); err != nil {
		c.close()
		return false
	}
	return true
}

func (s *Server) openConnection(*call) (map[string]any, *failure) {
	if code := s.opts.SocketRefusal; code != "" {
		return nil, fail(code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ticket := s.nextID("ticket")
	s.tickets[ticket] = true
	url := "ws" + strings.TrimPrefix(s.ln.URL(), "http") + "/link/?ticket=" + ticket + "&app_id=" + appID
	return map[string]any{"url": url}, nil
}

func (s *Server) serveSocket(rw http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	ok := s.tickets[ticket]
	delete(s.tickets, ticket) // good for one connection
	s.mu.Unlock()
	log := sim.Call{Op: sim.OpReceive, Method: "socket"}
	s.world.Intercept(rw, log, s.ctx.Done(), func() *sim.Answer {
		if !ok {
			return &sim.Answer{Status: http.StatusForbidden, Body: []byte("ticket invalid or used"), Error: "bad ticket"}
		}
		up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
		conn, err := up.Upgrade(rw, r, nil)
		if err != nil {
			return nil // answered by the upgrader
		}
		c := &socket{conn: conn, gone: make(chan struct{}), acks: map[string]chan struct{}{}, life: s.opts.ConnectionLife}
		if r.URL.Query().Get("debug_reconnects") == "true" { // for developers: connections end after 6 min
			c.life = 6 * time.Minute
		}
		s.mu.Lock()
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			c.close()
			return nil
		}
		s.conns = append(s.conns, c)
		n := len(s.conns)
		s.work.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.work.Done()
			s.keep(c, n)
		}()
		return nil
	}, s.refuse)
}

// keep serves a connection until it ends.
func (s *Server) keep(c *socket, n int) {
	defer func() {
		c.close()
		s.mu.Lock()
		s.conns = slices.DeleteFunc(s.conns, func(x *socket) bool { return x == c })
		s.mu.Unlock()
	}()
	life := 18060
	if c.life > 0 {
		life = int(c.life.Seconds())
	}
	debug := map[string]any{"host": "applink-1", "build_number": 10, "approximate_connection_time": life}
	if !c.write(map[string]any{"type": "hello", "num_connections": n, "debug_info": debug, "connection_info": map[string]any{"app_id": appID}}) {
		return
	}
	s.work.Go(func() { s.beat(c, debug) })
	for {
		var ack struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		if err := c.conn.ReadJSON(&ack); err != nil {
			return
		}
		c.waiting.Lock()
		if ch, ok := c.acks[ack.EnvelopeID]; ok {
			delete(c.acks, ack.EnvelopeID)
			close(ch)
		}
		c.waiting.Unlock()
	}
}

// beat pings, and ends the connection when its life is over.
func (s *Server) beat(c *socket, debug map[string]any) {
	ping := time.NewTicker(s.opts.PingEvery)
	defer ping.Stop()
	var warn, end <-chan time.Time
	if c.life > 0 {
		warning, ending := time.NewTimer(max(0, c.life-10*time.Second)), time.NewTimer(c.life)
		defer warning.Stop()
		defer ending.Stop()
		warn, end = warning.C, ending.C
	}
	for {
		select {
		case <-c.gone:
			return
		case <-ping.C:
			if c.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-1"), time.Now().Add(5*time.Second)) != nil {
				c.close()
				return
			}
		case <-warn:
			c.write(map[string]any{"type": "disconnect", "reason": "warning", "debug_info": debug})
		case <-end:
			c.write(map[string]any{"type": "disconnect", "reason": "refresh_requested", "debug_info": debug})
			last := time.NewTimer(5 * time.Second) // for the client to go by itself
			select {
			case <-c.gone:
			case <-last.C:
			}
			last.Stop()
			c.close()
			return
		}
	}
}

// Refresh tells every connection to reconnect, and closes it.
func (s *Server) Refresh() {
	s.mu.Lock()
	conns := slices.Clone(s.conns)
	s.mu.Unlock()
	for _, c := range conns {
		c.write(map[string]any{"type": "disconnect", "reason": "refresh_requested", "debug_info": map[string]any{"host": "applink-1"}})
	}
}

// Connections says how many sockets are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// WriteRaw sends bytes that are no envelope to every connection.
func (s *Server) WriteRaw(text string) {
	s.mu.Lock()
	conns := slices.Clone(s.conns)
	s.mu.Unlock()
	for _, c := range conns {
		c.writing.Lock()
		err := c.conn.WriteMessage(websocket.TextMessage, []byte(text))
		c.writing.Unlock()
		if err != nil {
			c.close()
		}
	}
}
