package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"typist/adapters"
	"typist/agent"
)

// maxInput bounds the inbound files of a turn, one and all of them together, in bytes: what models
// take at most.
const maxInput = 20 << 20

// loading loads the files of a person's message. What the agent can't get it is told of, and so is
// the person (C7).
type loading struct {
	run    *run
	left   int64    // bytes that are still allowed
	over   []string // files that were too much together
	unsaid []string // notes for the person
}

func (l *loading) without(f adapters.File, why, note string) agent.Part {
	if note != "" && !slices.Contains(l.unsaid, note) {
		l.unsaid = append(l.unsaid, note)
	}
	return agent.Part{Kind: agent.PartText, Text: fmt.Sprintf("[file %q %s]", f.Name, why)}
}

func (l *loading) file(ctx context.Context, f adapters.File) agent.Part {
	lane := l.run.lane
	words := lane.words()
	fetcher, ok := lane.chn.adapter.(adapters.Fetcher)
	switch {
	case !readable(f):
		return l.without(f, "of type "+f.MIME+", not readable here", words.NoFileKinds)
	case f.Size > maxInput:
		return l.without(f, "is too big", words.FileTooBig(f.Name, maxInput))
	case !ok:
		return l.without(f, "could not be loaded", words.FileUnread(f.Name))
	case f.Size > l.left || l.left == 0:
		return l.tooMuch(f)
	}
	data, err := fetchFile(ctx, fetcher, f)
	if err != nil {
		lane.log.Warn("a file could not be loaded", "name", f.Name, "error", err)
		return l.without(f, "could not be loaded", words.FileUnread(f.Name))
	}
	if int64(len(data)) > l.left {
		return l.tooMuch(f)
	}
	l.left -= int64(len(data))
	return agent.Part{Kind: agent.PartFile, Name: f.Name, MIME: f.MIME, Data: data}
}

func (l *loading) tooMuch(f adapters.File) agent.Part {
	l.over = append(l.over, f.Name)
	return l.without(f, "was not loaded: the files of this message are too big together", "")
}

// tell says what could not be loaded.
func (l *loading) tell() {
	notes := l.unsaid
	if len(l.over) > 0 {
		notes = append(notes, l.run.lane.words().FilesUnread(l.over, maxInput))
	}
	for _, note := range notes {
		l.run.lane.mail.put(saying{note})
	}
}

func fetchFile(ctx context.Context, f adapters.Fetcher, file adapters.File) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	type loaded struct {
		data []byte
		err  error
	}
	done := make(chan loaded, 1)
	go func() {
		data, err := f.Fetch(ctx, file, maxInput)
		done <- loaded{data, err}
	}()
	select { // a stop must not wait for a connection that notices nothing (S2)
	case l := <-done:
		return l.data, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readable: images and text files reach the agent (C7).
func readable(f adapters.File) bool {
	for _, ok := range []string{"image/", "text/", "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript", "application/x-sh"} {
		if strings.HasPrefix(f.MIME, ok) {
			return true
		}
	}
	return f.MIME == "" || strings.HasSuffix(f.MIME, "+json") || strings.HasSuffix(f.MIME, "+xml")
}
