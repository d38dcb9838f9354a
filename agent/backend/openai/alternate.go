package openai

// alternate appends a message, or makes one of it and the message before where both are the
// person's or both the model's: after a stop, a resumption or an unanswered message two of a kind
// follow each other, and the chat templates of many models refuse that. What calls tools stays a
// message of its own, since the results have to follow it.
func alternate(list []message, next message) []message {
	if len(list) == 0 {
		return append(list, next)
	}
	last := &list[len(list)-1]
	if last.Role != next.Role || last.Role != "user" && last.Role != "assistant" || len(last.ToolCalls) > 0 {
		return append(list, next)
	}
	content := joinContent(last.Content, next.Content)
	*last = next // its calls, and the thoughts that led to them
	last.Content = content
	return list
}

// joinContent puts two contents together: texts with a blank line between them, parts one after
// the other.
func joinContent(a, b any) any {
	one, isText := a.(string)
	two, areTexts := b.(string)
	switch {
	case a == nil || isText && one == "":
		return b
	case b == nil || areTexts && two == "":
		return a
	case isText && areTexts:
		return one + "\n\n" + two
	}
	return append(parts(a), parts(b)...)
}

func parts(content any) []contentPart {
	switch c := content.(type) {
	case string:
		return []contentPart{{Type: "text", Text: c}}
	case []contentPart:
		return c
	}
	return nil
}
