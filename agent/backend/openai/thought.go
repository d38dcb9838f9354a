package openai

import (
	"encoding/json"

	"typist/agent/backend/loop"
)

// thought follows reasoning that comes in fields of its own. Servers name it reasoning_content
// (DeepSeek, vLLM, llama.cpp, Moonshot …), reasoning (Ollama, OpenRouter, newer vLLM) or
// reasoning_details (OpenRouter); some send the same words in two of them.
type thought struct {
	open    bool
	field   string
	details []detail
}

// detail is one of OpenRouter's reasoning details, as far as it has come. What is not known here
// is kept as it was.
type detail map[string]json.RawMessage

// add takes what a delta says of a thought.
func (t *thought) add(out *loop.Writer, d *delta) {
	reasoning := jsonString(d.Reasoning)
	words := ""
	switch {
	case d.ReasoningContent != "":
		words = t.from("reasoning_content", d.ReasoningContent)
	case reasoning != "":
		words = t.from("reasoning", reasoning)
	}
	hidden := false
	for _, raw := range d.ReasoningDetails {
		var next detail
		if json.Unmarshal(raw, &next) != nil || next == nil {
			continue
		}
		hidden = true
		t.merge(next)
		if reasoning == "" && d.ReasoningContent == "" {
			words += jsonString(next["text"]) + jsonString(next["summary"])
		}
	}
	switch {
	case words != "":
		t.open = true
		out.Reasoning(words)
	case hidden && !t.open: // it thinks, and doesn't say what
		t.open = true
		out.StartReasoning()
	}
}

func (t *thought) from(field, words string) string {
	t.field = field
	return words
}

// merge appends a detail, or joins it to the last one if it goes on with that.
func (t *thought) merge(next detail) {
	if n := len(t.details); n > 0 {
		last := t.details[n-1]
		if same(last, next, "type") && same(last, next, "index") && same(last, next, "id") {
			for name, value := range next {
				switch name {
				case "text", "summary", "data":
					if joined, err := json.Marshal(jsonString(last[name]) + jsonString(value)); err == nil {
						last[name] = joined
					}
				default:
					if string(value) != "null" {
						last[name] = value
					}
				}
			}
			return
		}
	}
	t.details = append(t.details, next)
}

// same reports whether two details agree in a member, as far as both have it.
func same(a, b detail, name string) bool {
	x, y := string(a[name]), string(b[name])
	return x == y || name == "id" && (x == "" || y == "" || x == "null" || y == "null")
}

// end ends the thought: text or calls follow.
func (t *thought) end(out *loop.Writer) {
	if !t.open {
		return
	}
	sig := signature{Field: t.field}
	if len(t.details) > 0 {
		sig.Field = "reasoning_details"
		sig.Value, _ = json.Marshal(t.details) // made of valid JSON
	}
	out.EndReasoning(sig.String())
	*t = thought{}
}
