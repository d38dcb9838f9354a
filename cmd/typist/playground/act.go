package playground

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"typist/adapters"
	"typist/adapters/sim"
)

// target is a chat in what a page sends.
type target struct {
	Platform string `json:"platform"`
	Chat     string `json:"chat"`
	Thread   string `json:"thread"`
	Person   string `json:"person"` // "" = the one whose client the page shows
}

// town finds the platform that a page means.
func (w *web) town(name string) (*town, error) {
	for _, t := range w.p.towns {
		if t.Name() == name {
			return t, nil
		}
	}
	return nil, badRequest{fmt.Errorf("no platform %.20q", name)}
}

// who is the person who acts.
func (t *town) who(person string) string {
	if person == "" {
		return t.you
	}
	return person
}

func (w *web) say(r *http.Request) (any, error) {
	var in struct {
		target
		Text    string     `json:"text"`
		Mention bool       `json:"mention"`
		ReplyTo string     `json:"replyTo"`
		Files   []sim.File `json:"files"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	id, err := t.Say(sim.Say{Chat: in.Chat, Thread: in.Thread, Person: t.who(in.Person), Text: in.Text, Mention: in.Mention, ReplyTo: in.ReplyTo, Files: in.Files})
	return map[string]string{"id": id}, plain(err)
}

func (w *web) edit(r *http.Request) (any, error) {
	var in struct {
		target
		Message string `json:"message"`
		Text    string `json:"text"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	return nil, plain(t.EditMessage(in.Chat, t.who(in.Person), in.Message, in.Text))
}

func (w *web) press(r *http.Request) (any, error) {
	var in struct {
		target
		Message string `json:"message"`
		Data    string `json:"data"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	return nil, plain(t.Press(in.Chat, t.who(in.Person), in.Message, in.Data))
}

func (w *web) command(r *http.Request) (any, error) {
	var in struct {
		target
		Name   string `json:"name"`
		Args   string `json:"args"`
		Target string `json:"target"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	return nil, plain(t.Command(sim.CommandUse{Chat: in.Chat, Thread: in.Thread, Person: t.who(in.Person), Name: in.Name, Args: in.Args, Target: in.Target}))
}

// heartbeat begins a heartbeat in a chat. Its prompt is what the scripted agent knows it by.
func (w *web) heartbeat(r *http.Request) (any, error) {
	var in target
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := w.town(in.Platform)
	if err != nil {
		return nil, err
	}
	chat, ok := t.World().Chat(in.Chat)
	if !ok {
		return nil, badRequest{fmt.Errorf("no chat %.40q", in.Chat)}
	}
	kind := adapters.Group
	if chat.Direct {
		kind = adapters.Direct
	}
	return nil, w.p.bot.Heartbeat(r.Context(), adapters.Chat{Channel: in.Platform, ID: in.Chat, Thread: in.Thread}, kind, "heartbeat check")
}

// plain is an error of a platform for a person, without the package that it comes from.
func plain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, prefix := range []string{"sim discord: ", "sim telegram: ", "sim slack: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return errors.New(text)
}
