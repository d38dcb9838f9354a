package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrUnknownEvent is wrapped by Decode for a type it does not know.
var ErrUnknownEvent = errors.New("unknown event type")

// decoders holds every kind of event by its wire name. typeName is its inverse; a test holds both
// against the types declared in event.go.
var decoders = map[string]func([]byte) (Event, error){
	"RUN_STARTED":               decodeAs[RunStarted],
	"RUN_FINISHED":              decodeAs[RunFinished],
	"RUN_ERROR":                 decodeAs[RunError],
	"MODEL_REQUEST":             decodeAs[ModelRequest],
	"STEP_STARTED":              decodeAs[StepStarted],
	"STEP_FINISHED":             decodeAs[StepFinished],
	"REASONING_MESSAGE_START":   decodeAs[ReasoningStarted],
	"REASONING_MESSAGE_CONTENT": decodeAs[ReasoningContent],
	"REASONING_MESSAGE_END":     decodeAs[ReasoningEnded],
	"TEXT_MESSAGE_START":        decodeAs[TextStarted],
	"TEXT_MESSAGE_CONTENT":      decodeAs[TextContent],
	"TEXT_MESSAGE_END":          decodeAs[TextEnded],
	"TOOL_CALL_START":           decodeAs[ToolCallStarted],
	"TOOL_CALL_ARGS":            decodeAs[ToolCallArgs],
	"TOOL_CALL_END":             decodeAs[ToolCallEnded],
	"TOOL_CALL_RESULT":          decodeAs[ToolCallResult],
	"SUBAGENT_STARTED":          decodeAs[SubagentStarted],
	"SUBAGENT_FINISHED":         decodeAs[SubagentFinished],
	"APPROVAL_REQUESTED":        decodeAs[ApprovalRequested],
	"APPROVAL_RESOLVED":         decodeAs[ApprovalResolved],
	"RETRYING":                  decodeAs[Retrying],
	"USAGE":                     decodeAs[Usage],
	"FILE_PRODUCED":             decodeAs[FileProduced],
}

// typeName is the wire name of an event: AG-UI's where AG-UI has one. "" for a foreign type.
func typeName(ev Event) string {
	switch ev.(type) {
	case RunStarted:
		return "RUN_STARTED"
	case RunFinished:
		return "RUN_FINISHED"
	case RunError:
		return "RUN_ERROR"
	case ModelRequest:
		return "MODEL_REQUEST"
	case StepStarted:
		return "STEP_STARTED"
	case StepFinished:
		return "STEP_FINISHED"
	case ReasoningStarted:
		return "REASONING_MESSAGE_START"
	case ReasoningContent:
		return "REASONING_MESSAGE_CONTENT"
	case ReasoningEnded:
		return "REASONING_MESSAGE_END"
	case TextStarted:
		return "TEXT_MESSAGE_START"
	case TextContent:
		return "TEXT_MESSAGE_CONTENT"
	case TextEnded:
		return "TEXT_MESSAGE_END"
	case ToolCallStarted:
		return "TOOL_CALL_START"
	case ToolCallArgs:
		return "TOOL_CALL_ARGS"
	case ToolCallEnded:
		return "TOOL_CALL_END"
	case ToolCallResult:
		return "TOOL_CALL_RESULT"
	case SubagentStarted:
		return "SUBAGENT_STARTED"
	case SubagentFinished:
		return "SUBAGENT_FINISHED"
	case ApprovalRequested:
		return "APPROVAL_REQUESTED"
	case ApprovalResolved:
		return "APPROVAL_RESOLVED"
	case Retrying:
		return "RETRYING"
	case Usage:
		return "USAGE"
	case FileProduced:
		return "FILE_PRODUCED"
	}
	return ""
}

// Encode writes an event as one JSON object whose first member is its type:
// {"type":"TEXT_MESSAGE_CONTENT","id":"t1","delta":"Hello"}.
func Encode(ev Event) ([]byte, error) {
	name := typeName(ev)
	if name == "" {
		return nil, fmt.Errorf("encode %T: %w", ev, ErrUnknownEvent)
	}
	body, err := json.Marshal(ev)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	out := make([]byte, 0, len(body)+len(name)+len(`{"type":"",`))
	out = append(out, `{"type":"`...)
	out = append(out, name...)
	out = append(out, '"')
	if !bytes.Equal(body, []byte("{}")) {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// Decode reads what Encode wrote. A type it does not know is ErrUnknownEvent; members it does not
// know are ignored, so that an older program reads a newer log.
func Decode(b []byte) (Event, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	decode, ok := decoders[head.Type]
	if !ok {
		return nil, fmt.Errorf("decode event %q: %w", head.Type, ErrUnknownEvent)
	}
	ev, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", head.Type, err)
	}
	return ev, nil
}

func decodeAs[E Event](b []byte) (Event, error) {
	var ev E
	if err := json.Unmarshal(b, &ev); err != nil {
		return nil, err
	}
	return ev, nil
}
