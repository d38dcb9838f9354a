package playground

import (
	"net/http"

	"typist/adapters/sim"
	"typist/agent/backend/script"
	"typist/agent/progress"
	"typist/agent/turn"
	"typist/config"
)

// setupView is what does not change while the playground runs.
type setupView struct {
	Platforms []platformView `json:"platforms"`
	Commands  []commandView  `json:"commands"`
	Demos     []demoView     `json:"demos"`
	Modes     []string       `json:"modes"`
	Views     []string       `json:"views"`
	Languages []string       `json:"languages"`
	Queues    []string       `json:"queues"`
	Reasoning []string       `json:"reasoning"`
}

type platformView struct {
	Name   string       `json:"name"`
	You    string       `json:"you"`
	Bot    sim.Person   `json:"bot"`
	People []sim.Person `json:"people"`
}

type commandView struct {
	Name      string   `json:"name"`
	About     string   `json:"about"`
	Args      string   `json:"args,omitempty"`
	Choices   []string `json:"choices,omitempty"`
	OnMessage bool     `json:"onMessage,omitempty"`
}

type demoView struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	Try   string `json:"try"`
}

func (w *web) setup(rw http.ResponseWriter, _ *http.Request) {
	view, err := w.p.setup()
	respond(rw, view, err)
}

func (p *Playground) setup() (setupView, error) {
	view := setupView{Modes: config.TypingModes, Views: words(progress.Levels()), Languages: words(progress.Langs()),
		Queues: []string{"followup", "collect", "steer", "interrupt"}, Reasoning: config.ReasoningLevels}
	for _, t := range p.towns {
		pv := platformView{Name: t.Name(), You: t.you, Bot: t.World().Bot()}
		seen := map[string]bool{}
		for _, c := range t.World().Chats() {
			for _, id := range c.Members {
				if person, ok := t.World().Person(id); ok && !seen[id] {
					seen[id] = true
					pv.People = append(pv.People, person)
				}
			}
		}
		view.Platforms = append(view.Platforms, pv)
	}
	for _, c := range turn.Commands() {
		view.Commands = append(view.Commands, commandView{Name: c.Name, About: c.Description["en"], Args: c.Args, Choices: c.Choices, OnMessage: c.OnMessage})
	}
	demos, err := script.Demos()
	for _, d := range demos {
		view.Demos = append(view.Demos, demoView(d))
	}
	return view, err
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
