package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"typist/agent"
)

// maxLine bounds one message of an agent. The largest honest ones carry a screenshot or a file.
const maxLine = 64 << 20

// JSON-RPC's error codes, and ACP's own.
const (
	codeAuthRequired   = -32000
	codeNotFound       = -32002
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
)

// peer takes what the other side sends. It is called in the order of the messages, from one
// goroutine, and must not wait for an answer of the other side.
type peer interface {
	notified(method string, params json.RawMessage)
	// asked returns what works out the answer; that runs beside, since people may be asked.
	asked(method string, params json.RawMessage) func() (any, *rpcError)
}

// conn is JSON-RPC 2.0 over lines of JSON, ACP's transport over stdio. Notifications and answers
// are handled in the order they come, and reading waits until they have been: so whatever precedes
// the answer to a prompt has been handled before call returns it, and an agent that is faster than
// we are is slowed by its pipe instead of overflowing a queue here.
type conn struct {
	out    io.Writer
	peer   peer
	noise  func(line []byte) // lines that are no JSON
	write  sync.Mutex
	beside sync.WaitGroup
	gone   chan struct{} // closed when nothing is read any more

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan<- message
	err     error // why gone
}

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is an error that the agent answered with.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string {
	s := e.Message
	if len(e.Data) > 0 && string(e.Data) != "null" {
		s += " " + string(e.Data)
	}
	return fmt.Sprintf("%s (code %d)", s, e.Code)
}

func newConn(out io.Writer, p peer, noise func([]byte)) *conn {
	return &conn{out: out, peer: p, noise: noise, gone: make(chan struct{}), waiting: map[int64]chan<- message{}}
}

// read handles what comes until it ends, and returns once everything that it started has ended.
func (c *conn) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 64<<10)
	var err error
	for err == nil {
		var line []byte
		if line, err = readLine(in); err == nil {
			err = c.handle(line)
		}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.gone)
	c.beside.Wait()
}

// readLine returns the next line without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, &agent.ProtocolError{Detail: fmt.Sprintf("a message of more than %d bytes", maxLine)}
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // a line without end was cut
		}
	}
}

// handle takes one line. Lines that begin like no JSON object are what a wrapper printed.
func (c *conn) handle(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if line[0] != '{' {
		c.noise(line)
		return nil
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return &agent.ProtocolError{Detail: "a message that is no JSON-RPC", Err: err}
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	switch {
	case m.Method == "":
		c.answered(m)
	case m.ID == nil:
		c.peer.notified(m.Method, m.Params)
	default:
		work := c.peer.asked(m.Method, m.Params)
		c.beside.Go(func() { c.answer(m.ID, work) })
	}
	return nil
}

// answered hands an answer to the call that waits for it; one that nobody waits for is dropped.
func (c *conn) answered(m message) {
	id, err := strconv.ParseInt(strings.Trim(string(m.ID), `"`), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	waiting := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if waiting != nil {
		waiting <- m
	}
}

func (c *conn) answer(id json.RawMessage, work func() (any, *rpcError)) {
	result, refused := work()
	m := message{ID: id, Error: refused}
	if refused == nil {
		var err error
		if m.Result, err = json.Marshal(result); err != nil {
			m.Result, m.Error = nil, &rpcError{Code: codeInvalidRequest, Message: err.Error()}
		}
	}
	_ = c.send(m) // a peer that is gone needs no answer
}

func (c *conn) send(m message) error {
	m.Version = "2.0"
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf) // ends with a line feed
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_, err := c.out.Write(buf.Bytes())
	return err
}

// notify sends a notification. It blocks as long as the other side reads nothing.
func (c *conn) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.send(message{Method: method, Params: raw})
}

// call makes a request and decodes its answer. A refusal is an *rpcError; the connection's end is
// what ended it. sent, unless nil, is closed once the request has been written. ctx bounds the
// waiting for the answer; writing ends with the process.
func (c *conn) call(ctx context.Context, method string, params, result any, sent chan<- struct{}) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.send(message{ID: strconv.AppendInt(nil, id, 10), Method: method, Params: raw}); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	if sent != nil {
		close(sent)
	}
	select {
	case m := <-answer:
		return m.into(method, result)
	case <-c.gone:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case m := <-answer: // its last words
		return m.into(method, result)
	default:
		return c.reason()
	}
}

func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (m message) into(method string, result any) error {
	if m.Error != nil {
		return m.Error
	}
	if len(m.Result) == 0 || string(m.Result) == "null" || result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return &agent.ProtocolError{Detail: "the answer to " + method + " is not understood", Err: err}
	}
	return nil
}
