package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"typist/adapters"
)

// metadataType names the bot's own metadata on its messages; they carry Post.Key (S3).
const metadataType = "typist_post"

func metadata(key string) slack.SlackMetadata {
	return slack.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{"key": key}}
}

// Send posts one message. Files are shared first, as a message of their own, so that once the
// text stands, all of it does; files without text are that message only. Slack knows neither silent posts nor replies outside threads: Silent, ReplyTo and Ping
// change nothing.
func (a *Adapter) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	if len(post.Files) > 0 {
		shared, err := a.shareOnce(ctx, chat, post)
		if err != nil {
			return adapters.Ref{}, err
		}
		if len(post.Doc) == 0 && len(post.Buttons) == 0 && shared != "" {
			return a.sharedAs(ctx, chat, shared), nil
		}
	}
	var ts string
	err := a.inForms(forms(post), func(f form) (err error) {
		options := f.options()
		if chat.Thread != "" {
			options = append(options, slack.MsgOptionTS(chat.Thread))
		}
		if post.Key != "" {
			options = append(options, slack.MsgOptionMetadata(metadata(post.Key)))
		}
		options = append(options, slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
		_, ts, err = a.api.PostMessageContext(ctx, chat.ID, options...)
		return err
	})
	if err != nil {
		return adapters.Ref{}, wrap("chat.postMessage", err)
	}
	if ts == "" {
		return adapters.Ref{}, fmt.Errorf("slack chat.postMessage: %w: the answer names no message", adapters.ErrUnknownOutcome)
	}
	a.own.add(chat.ID + "/" + ts)
	a.status.saw(chat, ts)
	return adapters.Ref{Chat: chat, ID: ts}, nil
}

// Edit replaces text, blocks and buttons of a message. Both text and blocks are always sent: what
// Slack does with the old blocks where new ones are missing, its documents do not agree on.
func (a *Adapter) Edit(ctx context.Context, ref adapters.Ref, post adapters.Post) error {
	err := a.inForms(forms(post), func(f form) error {
		options := f.options()
		if post.Key != "" {
			options = append(options, slack.MsgOptionMetadata(metadata(post.Key)))
		}
		_, _, _, err := a.api.UpdateMessageContext(ctx, ref.Chat.ID, ref.ID, options...)
		return err
	})
	return wrap("chat.update", err)
}

// Delete deletes one of the bot's messages; one that is gone counts as deleted.
func (a *Adapter) Delete(ctx context.Context, ref adapters.Ref) error {
	_, _, err := a.api.DeleteMessageContext(ctx, ref.Chat.ID, ref.ID)
	if c := code(err); c == "message_not_found" || c == "channel_not_found" {
		return nil
	}
	return wrap("chat.delete", err)
}

// inForms makes a call with a post's forms, from the richest to plain text, until Slack accepts
// one (P13: no answer is ever lost). A refused form has not been carried out.
func (a *Adapter) inForms(all []form, call func(f form) error) error {
	for i, f := range all {
		err := call(f)
		if err == nil || i == len(all)-1 || !slices.Contains(codesForm, code(err)) {
			return err
		}
		a.log.Warn("a message was refused as it was and is sent plainer", "error", err, "detail", strings.TrimSpace(detail(err)))
	}
	return nil
}

// form is one way to write a post.
type form struct {
	text   string // escaped mrkdwn: what notifications and screen readers get
	blocks []slack.Block
}

func (f form) options() []slack.MsgOption {
	return []slack.MsgOption{slack.MsgOptionText(f.text, false), slack.MsgOptionBlocks(f.blocks...), slack.MsgOptionParse(false)}
}

// forms are the ways to write a post, richest first. The last is all of it as text alone.
func forms(post adapters.Post) []form {
	text := fallback(post.Doc)
	buttons := buttonBlocks(post.Buttons)
	out := []form{{text: text, blocks: append(richBlocks(post.Doc, rendering{tables: true, languages: true}), buttons...)}}
	if simple := richBlocks(post.Doc, rendering{}); hasExtras(post.Doc) {
		out = append(out, form{text: text, blocks: append(simple, buttons...)})
	}
	plain := plainBlocks(post.Doc)
	if len(buttons) > 0 {
		out = append(out, form{text: text, blocks: append(slices.Clone(plain), buttons...)})
	}
	return append(out, form{text: text, blocks: plain}, form{text: fullText(post.Doc)})
}
