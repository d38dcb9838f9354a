package discord

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"typist/adapters/sim"
)

// Gateway opcodes.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Intents.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
	intentAlways         = 0
)

// replayed is how many events a session keeps for a resume.
const replayed = 1000

// Trouble is what the gateway does wrong to the next connections. Zero fields do nothing.
type Trouble struct {
	Times        int   // connections it applies to; 0 = all until changed
	NoHello      bool  // accepts and stays silent
	BeforeReady  []int // opcodes sent between IDENTIFY or RESUME and its answer
	IdentifyCode int   // closes with this code instead of READY or RESUMED
	AfterReady   int   // closes with this code right after READY or RESUMED; -7 asks to reconnect
	NoAcks       bool  // heartbeats are not acknowledged, and nothing else is sent
}

// gateway is the websocket side of the server.
type gateway struct {
	s        *Server
	upgrader websocket.Upgrader

	mu       sync.Mutex
	sessions map[string]*session
	conns    map[*wsConn]struct{}
	trouble  Trouble
	identify int // how many IDENTIFY and RESUME were accepted
	resumes  int
}

// session outlives its connections.
type session struct {
	id      string
	intents int
	seq     int64
	buffer  []frame
	conn    *wsConn   // nil while nobody is connected
	left    time.Time // since when
}

type frame struct {
	Op int    `json:"op"`
	D  any    `json:"d"`
	S  *int64 `json:"s"`
	T  any    `json:"t"`
}

// wsConn is one connection.
type wsConn struct {
	ws    *websocket.Conn
	mu    sync.Mutex
	muted bool
}

func (c *wsConn) send(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.muted {
		return
	}
	data, err := json.Marshal(f)
	if err != nil {
		panic("sim discord: " + err.Error())
	}
	c.ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_ = c.ws.WriteMessage(websocket.TextMessage, data) // the reader notices a broken connection
}

func (c *wsConn) close(code int, reason string) {
	c.mu.Lock()
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
	c.mu.Unlock()
	c.ws.Close()
}

func (g *gateway) init(s *Server) {
	g.s = s
	g.sessions = map[string]*session{}
	g.conns = map[*wsConn]struct{}{}
	g.upgrader.CheckOrigin = func(*http.Request) bool { return true }
}

func (s *Server) gatewayURL() string { return "ws" + strings.TrimPrefix(s.URL(), "http") }

// Misbehave makes trouble for connections from now on.
func (s *Server) Misbehave(t Trouble) {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.gate.trouble = t
}

// take is the trouble for a new connection.
func (g *gateway) take() Trouble {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.trouble
	if t.Times > 0 {
		if g.trouble.Times--; g.trouble.Times == 0 {
			g.trouble = Trouble{}
		}
	}
	return t
}

// serve runs one gateway connection.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	ws, err := g.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &wsConn{ws: ws}
	g.mu.Lock()
	g.conns[c] = struct{}{}
	g.mu.Unlock()
	defer func() {
		ws.Close()
		g.mu.Lock()
		delete(g.conns, c)
		for _, se := range g.sessions {
			if se.conn == c {
				se.conn, se.left = nil, time.Now()
			}
		}
		g.mu.Unlock()
		g.s.world.Record(sim.Call{At: start, Took: time.Since(start), Op: sim.OpReceive, Method: "gateway", Status: 101})
	}()
	trouble := g.take()
	if !trouble.NoHello {
		c.send(frame{Op: opHello, D: map[string]any{"heartbeat_interval": g.s.opts.Heartbeat.Milliseconds()}})
	}
	g.read(c, trouble)
}

// read handles what the bot sends, until the connection ends.
func (g *gateway) read(c *wsConn, trouble Trouble) {
	patience := g.s.opts.Heartbeat * 3 / 2
	var se *session
	for {
		c.ws.SetReadDeadline(time.Now().Add(patience))
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
				g.forget(se) // the client said that it does not come back
			}
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() && !trouble.NoAcks {
				g.forget(se)
				c.close(4009, "Session timed out.")
			}
			return
		}
		var in struct {
			Op int             `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		if json.Unmarshal(data, &in) != nil {
			c.close(4002, "Error while decoding payload.")
			return
		}
		switch in.Op {
		case opHeartbeat:
			if !trouble.NoAcks {
				c.send(frame{Op: opHeartbeatAck})
			}
		case opIdentify, opResume:
			if se != nil {
				c.close(4005, "Already authenticated.")
				return
			}
			if trouble.IdentifyCode != 0 {
				c.close(trouble.IdentifyCode, "refused")
				return
			}
			for _, op := range trouble.BeforeReady {
				c.send(frame{Op: op, D: op == opHeartbeat})
			}
			if in.Op == opIdentify {
				se = g.start(c, in.D)
			} else {
				se = g.resume(c, in.D)
			}
			if se != nil && trouble.AfterReady != 0 {
				if trouble.AfterReady == -opReconnect {
					c.send(frame{Op: opReconnect})
				} else {
					c.close(trouble.AfterReady, "")
					return
				}
			}
			if trouble.NoAcks {
				c.mu.Lock()
				c.muted = true
				c.mu.Unlock()
			}
		case 3, 4, 8: // presence, voice, members
		default:
			c.close(4001, "Unknown opcode.")
			return
		}
	}
}
