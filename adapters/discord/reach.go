package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"typist/adapters"
)

var snowflakeForm = regexp.MustCompile(`^\d{1,20}$`)

// Resolve finds a chat by a channel, thread or person id, or by "#name" of a channel or thread.
// A person's id gives the direct chat with them.
func (a *Adapter) Resolve(ctx context.Context, text string) (adapters.Chat, adapters.Kind, error) {
	text = strings.TrimSpace(text)
	if name, ok := strings.CutPrefix(text, "#"); ok {
		c, ok := a.dir.named(name)
		if !ok {
			if err := a.survey(ctx); err != nil {
				return adapters.Chat{}, "", err
			}
			c, ok = a.dir.named(name)
		}
		if !ok {
			return adapters.Chat{}, "", fmt.Errorf("discord: no channel #%s in the bot's servers: %w", name, adapters.ErrGone)
		}
		chat, kind := place(c)
		return chat, kind, nil
	}
	if !snowflakeForm.MatchString(text) {
		return adapters.Chat{}, "", fmt.Errorf("discord: %q is no id and no #channel (a person is named by their id): %w", text, adapters.ErrInvalid)
	}
	c, err := a.lookup(ctx, text)
	if errors.Is(err, adapters.ErrGone) {
		err = a.call(ctx, http.MethodPost, "users/@me/channels", map[string]string{"recipient_id": text}, &c)
		if errors.Is(err, adapters.ErrInvalid) {
			err = fmt.Errorf("discord: %s is neither a channel nor a person: %w", text, adapters.ErrGone)
		}
		if err == nil {
			c.Type = typeDM
			a.dir.put("", c)
		}
	}
	if err != nil {
		return adapters.Chat{}, "", err
	}
	chat, kind := place(c)
	return chat, kind, nil
}

// survey asks for the channels and active threads of the bot's servers.
func (a *Adapter) survey(ctx context.Context) error {
	var guilds []guild
	if err := a.call(ctx, http.MethodGet, "users/@me/guilds", nil, &guilds); err != nil {
		return err
	}
	for _, g := range guilds {
		var channels []channel
		if err := a.call(ctx, http.MethodGet, "guilds/"+g.ID+"/channels", nil, &channels); err != nil {
			return err
		}
		a.dir.put(g.ID, channels...)
		var active struct {
			Threads []channel `json:"threads"`
		}
		if err := a.call(ctx, http.MethodGet, "guilds/"+g.ID+"/threads/active", nil, &active); err != nil {
			return err
		}
		a.dir.put(g.ID, active.Threads...)
	}
	return nil
}

// Application flags that tell of the Message Content switch.
const (
	flagContent        = 1 << 18
	flagContentLimited = 1 << 19
)

// Probe reaches Discord once: who the bot is, and whether it may read what it is meant to.
func (a *Adapter) Probe(ctx context.Context) (string, error) {
	bot, err := a.identity(ctx)
	if err != nil {
		if errors.Is(err, adapters.ErrDenied) {
			return "", &adapters.FatalError{Channel: Name, Sentence: fatal(4004), Err: err}
		}
		return "", err
	}
	var app struct {
		Flags int `json:"flags"`
	}
	if err := a.call(ctx, http.MethodGet, "applications/@me", nil, &app); err != nil {
		return "", err
	}
	var guilds []guild
	if err := a.call(ctx, http.MethodGet, "users/@me/guilds", nil, &guilds); err != nil {
		return "", err
	}
	content := "off"
	if app.Flags&(flagContent|flagContentLimited) != 0 {
		content = "on"
	}
	servers := fmt.Sprintf("%d servers", len(guilds))
	if len(guilds) == 1 {
		servers = "1 server"
	}
	found := fmt.Sprintf("bot @%s, in %s, message content intent %s", bot.Username, servers, content)
	if a.cfg.MessageContent && content == "off" {
		return found, &adapters.FatalError{Channel: Name, Sentence: fatal(4014)}
	}
	return found, nil
}

// Discord's own hosts for files.
var fileHosts = map[string]bool{"cdn.discordapp.com": true, "media.discordapp.net": true}

// Fetch loads an attachment. Only Discord's file hosts, or the one of APIURL, are asked.
func (a *Adapter) Fetch(ctx context.Context, file adapters.File, limit int64) ([]byte, error) {
	u, err := url.Parse(file.Source)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("discord: file %q has no address: %w", file.Name, adapters.ErrInvalid)
	}
	own, _ := url.Parse(a.cfg.APIURL)
	if !(fileHosts[u.Host] && u.Scheme == "https") && (a.cfg.APIURL == "" || u.Host != own.Host) {
		return nil, fmt.Errorf("discord: file %q is not on Discord's hosts: %w", file.Name, adapters.ErrInvalid)
	}
	if file.Size > limit {
		return nil, fmt.Errorf("discord: file %q has %d bytes, more than %d: %w", file.Name, file.Size, limit, adapters.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, invalid(err)
	}
	s := &seen{base: a.files}
	client := &http.Client{Transport: s, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, explain("GET attachment", s, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, explain("GET attachment", s, errUnexpected)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, unclear("GET attachment", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("discord: file %q has more than %d bytes: %w", file.Name, limit, adapters.ErrInvalid)
	}
	return data, nil
}
