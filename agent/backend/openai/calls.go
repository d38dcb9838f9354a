package openai

import (
	"bytes"
	"encoding/json"

	"typist/agent/backend/loop"
)

// calls follows the tool calls of one answer. Pieces are told apart by their index; but some
// servers send none, some give every call the same one, and some send no ids.
type calls struct {
	byIndex map[int]*openCall
	last    *openCall
}

type openCall struct {
	*loop.Call
	id string
}

func (c *calls) add(out *loop.Writer, d callDelta) {
	call := c.last
	if d.Index != nil {
		call = c.byIndex[*d.Index]
	}
	if call == nil || begins(call, d) {
		call = &openCall{Call: out.Call(d.ID), id: d.ID}
	}
	if c.byIndex == nil {
		c.byIndex = map[int]*openCall{}
	}
	if d.Index != nil {
		c.byIndex[*d.Index] = call
	}
	c.last = call
	if call.id == "" {
		call.id = d.ID
	}
	call.Name(d.Function.Name)
	call.Args(arguments(d.Function.Arguments))
	if len(d.Extra) > 0 {
		call.Sign(signature{Field: "extra_content", Value: bytes.Clone(d.Extra)}.String())
	}
}

// begins reports whether a piece begins a new call although its index is known already: it has
// another id, or, without ids, another name or a name after complete arguments.
func begins(call *openCall, d callDelta) bool {
	if d.ID != "" && call.id != "" {
		return d.ID != call.id
	}
	name := d.Function.Name
	return name != "" && call.ToolName() != "" && (name != call.ToolName() || call.Complete())
}

// arguments is the JSON text of a piece of arguments.
func arguments(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"':
		return jsonString(raw)
	}
	return string(raw)
}
