package loop

import (
	"crypto/rand"
	"fmt"
	"strings"

	"typist/agent"
)

// ids names what a run yields.
type ids struct {
	run      string
	requests int
}

func newIDs(req agent.Request) *ids { return &ids{run: req.RunID} }

// request names the next model request; ids of its blocks begin with it.
func (i *ids) request() string {
	i.requests++
	return fmt.Sprintf("%s.m%d", i.run, i.requests)
}

// callID makes a tool call's id unique for ever: finished calls are known by it (S4), and some
// servers number their calls anew in each request. The model's own id stays readable for ModelID.
func callID(model string) string {
	if model == "" {
		return "call_" + rand.Text()[:16]
	}
	return model + "~" + rand.Text()[:10]
}

// ModelID is the id by which the model's API knows a call: some models write better if they see
// their own ids again.
func ModelID(id string) string {
	if i := strings.LastIndexByte(id, '~'); i > 0 {
		return id[:i]
	}
	return id
}
