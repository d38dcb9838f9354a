package heartbeat

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// DefaultPrompt is what an agent is told where the configuration says nothing else.
const DefaultPrompt = "This is a heartbeat: nobody has written to you. Look whether something needs the attention of the people in this chat. " +
	"If nothing does, answer with HEARTBEAT_OK and nothing else."

// maxChecklist bounds what a checklist adds to the prompt.
const maxChecklist = 64 << 10

// prompt is what the agent is told. skip: the checklist is empty, so there is nothing to do (H7).
func (s Schedule) prompt() (text string, skip bool, err error) {
	text = s.Prompt
	if text == "" {
		text = DefaultPrompt
	}
	if s.Checklist == "" {
		return text, false, nil
	}
	list, err := os.ReadFile(s.Checklist)
	if errors.Is(err, fs.ErrNotExist) {
		return text, false, nil // no checklist is no empty one
	}
	if err != nil {
		return "", false, err
	}
	if empty(string(list)) {
		return "", true, nil
	}
	return text + "\n\nYour checklist:\n" + string(list[:min(len(list), maxChecklist)]), false, nil
}

// empty: nothing but white space, headings, comments and empty list items.
func empty(list string) bool {
	for {
		before, rest, found := strings.Cut(list, "<!--")
		if !found {
			break
		}
		_, after, _ := strings.Cut(rest, "-->")
		list = before + after
	}
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Trim(line, "-*+[] ") != "" {
			return false
		}
	}
	return true
}
