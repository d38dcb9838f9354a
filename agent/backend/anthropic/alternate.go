package anthropic

// alternate appends a message, or its content to the message before where both are of one role:
// after a stop, a resumption or an unanswered message two of a kind follow each other, and servers
// that speak this API for other models demand that they take turns. Results of tools are the
// user's and stand before what the person wrote next, as the API wants them.
func alternate(list []message, next message) []message {
	if len(next.Content) == 0 {
		return list
	}
	if len(list) == 0 || list[len(list)-1].Role != next.Role {
		return append(list, next)
	}
	last := &list[len(list)-1]
	if n := len(last.Content); last.Content[n-1].Type == "text" && next.Content[0].Type == "text" {
		last.Content[n-1].Text += "\n\n" + next.Content[0].Text
		next.Content = next.Content[1:]
	}
	last.Content = append(last.Content, next.Content...)
	return list
}
