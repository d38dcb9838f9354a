package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"typist/agent"
)

// replay plays what an agent wrote to its output, with a run in work. Questions are answered by
// nobody.
type replay []byte

func (r replay) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	c := &chat{backend: New(Config{})}
	t := &turn{chat: c, ctx: ctx, session: "s", req: req, translator: newTranslator(req.RunID, emit)}
	c.active.Store(t)
	conn := newConn(io.Discard, c, func([]byte) {})
	conn.read(bytes.NewReader(r))
	return t.outcome("end_turn")
}

func FuzzA1_AnyOutputIsWellFormed(f *testing.F) {
	update := func(u string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + "}}\n"
	}
	f.Add([]byte(update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"},"messageId":"m"}`) + update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`) +
		update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"a/b","blob":"eA=="}}}`)))
	f.Add([]byte("noise\n" + update(`{"sessionUpdate":"tool_call","toolCallId":"a","title":7,"rawInput":[1],"status":"in_progress"}`) + update(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","content":[{"type":"diff","path":"x"},3]}`)))
	f.Add([]byte(update(`{"sessionUpdate":"plan","entries":[{"content":"A","status":"in_progress"},{"content":"A","status":"completed"}]}`) + update(`{"sessionUpdate":"plan","entries":[]}`)))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"x","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","kind":"allow_once"}]}}` + "\n" + `{"id":1,"result":{}}` + "\n" + `{"id":null,"error":{"code":1}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tr agent.Transcript
		terminal := 0
		agent.Drive(t.Context(), replay(data), agent.Request{RunID: "r"}, func(ev agent.Event) {
			if agent.Terminal(ev) {
				terminal++
			} else if terminal > 0 {
				t.Errorf("%T after the end", ev)
			}
			tr.Apply(ev)
		})
		for _, m := range tr.Messages() {
			if !ofRun(m, "r") {
				t.Errorf("a message of no run: %+v", m)
			}
		}
		for _, call := range tr.Open() {
			if call.Args != nil && !json.Valid(call.Args) {
				t.Errorf("arguments %s", call.Args)
			}
		}
	})
}
