package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
)

const (
	umbrella      = "typist" // the slash command that takes a command as its first word
	answerTimeout = 15 * time.Second
	maxAnswers    = 4 // a response_url takes five
)

// slash makes a Command of a slash command.
func (a *Adapter) slash(ctx context.Context, c slashCommand) adapters.Event {
	if c.Channel == "" || c.User == "" {
		return nil
	}
	name := strings.ToLower(strings.TrimPrefix(c.Command, "/"))
	args, _ := readMrkdwn(c.Text, "", func(user string) string {
		n, _ := a.names.user(ctx, user)
		return n
	})
	if name == umbrella {
		first, rest, _ := strings.Cut(args, " ")
		name, args = strings.ToLower(strings.TrimPrefix(first, "/")), strings.TrimSpace(rest)
		if name == "" {
			name = "help"
		}
	}
	kind := kindOf(inner{Channel: c.Channel})
	chat := adapters.Chat{Channel: channelName, ID: c.Channel}
	o := a.origin(ctx, "command:"+c.Trigger, chat, kind, c.User, time.Time{})
	o.From.Name = cmp.Or(o.From.Name, c.UserName)
	if kind == adapters.Group {
		o.ChatName = cmp.Or(o.ChatName, c.ChannelName)
	}
	return adapters.Command{Origin: o, Name: name, Args: args, Answer: a.answer(c.ResponseURL)}
}

// interaction makes Presses of block_actions and a Command of a message shortcut.
func (a *Adapter) interaction(ctx context.Context, self *identity, in interaction) []adapters.Event {
	channel := cmp.Or(in.Container.Channel, in.Channel.ID)
	if channel == "" || in.User.ID == "" {
		return nil
	}
	kind := kindOf(inner{Channel: channel})
	thread := in.Container.ThreadTS
	if thread == "" && in.Message != nil {
		thread = in.Message.ThreadTS
	}
	switch in.Type {
	case "block_actions":
		ts := cmp.Or(in.Container.MessageTS, in.MessageTS)
		chat := adapters.Chat{Channel: channelName, ID: channel}
		if thread != ts {
			chat.Thread = thread
		}
		var out []adapters.Event
		for _, action := range in.Actions {
			if action.Type != "button" || action.Value == "" {
				continue
			}
			id := fmt.Sprintf("press:%s:%s:%s:%s:%s", channel, ts, in.User.ID, action.ActionID, action.ActionTS)
			p := adapters.Press{Origin: a.origin(ctx, id, chat, kind, in.User.ID, tsTime(action.ActionTS)), ID: ts, Data: action.Value}
			if in.Container.Ephemeral {
				p.ID = "" // no call can reach it
			}
			out = append(out, p)
		}
		return out
	case "message_action":
		ts := in.MessageTS
		if ts == "" && in.Message != nil {
			ts = in.Message.TS
		}
		if ts == "" || in.CallbackID == "" {
			return nil
		}
		chat := a.place(channel, kind, ts, thread)
		if m := in.Message; m != nil && (m.User == self.user || self.bot != "" && m.BotID == self.bot) && (thread == "" || thread == ts) {
			chat.Thread = "" // the bot's own post in the channel opened no thread
		}
		o := a.origin(ctx, "command:"+cmp.Or(in.Trigger, in.ActionTS), chat, kind, in.User.ID, tsTime(in.ActionTS))
		o.From.Name = cmp.Or(o.From.Name, in.User.Name, in.User.Username)
		return []adapters.Event{adapters.Command{Origin: o, Name: strings.ToLower(in.CallbackID), Target: ts, Answer: a.answer(in.ResponseURL)}}
	}
	return nil
}

// answer sends to the one who asked, as only they see it; nil without an address to answer to.
func (a *Adapter) answer(responseURL string) func(adapters.Post) error {
	if responseURL == "" {
		return nil
	}
	return func(post adapters.Post) error {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		parts := a.Fit(post.Doc)
		for i, part := range parts[:min(len(parts), maxAnswers)] {
			p := adapters.Post{Doc: part}
			if i == len(parts)-1 {
				p.Buttons = post.Buttons
			}
			if err := a.respond(ctx, responseURL, p); err != nil {
				return err
			}
		}
		return nil
	}
}

func (a *Adapter) respond(ctx context.Context, responseURL string, post adapters.Post) error {
	var err error
	for _, form := range forms(post) {
		_, _, _, err = a.api.SendMessageContext(ctx, "", slack.MsgOptionResponseURL(responseURL, slack.ResponseTypeEphemeral),
			slack.MsgOptionText(form.text, false), slack.MsgOptionBlocks(form.blocks...))
		var status slack.StatusCodeError
		if err == nil || !errors.As(err, &status) || status.Code != 400 { // 400: the blocks are refused
			break
		}
	}
	return wrap("response_url", err)
}
