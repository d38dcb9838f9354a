package discord

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/bwmarrin/discordgo"

	"typist/adapters"
	"typist/adapters/rich"
)

// mentions says who is notified: nobody, or the author of the message that is answered.
type mentions struct {
	Parse       []string `json:"parse"`
	RepliedUser bool     `json:"replied_user"`
}

type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// body is a message to send, or the fields of one to edit. It is not discordgo's, which writes
// stray fields into edits.
type body struct {
	Content         string                       `json:"content"`
	Components      []discordgo.MessageComponent `json:"components"`
	AllowedMentions mentions                     `json:"allowed_mentions"`
	Flags           int                          `json:"flags,omitempty"`
	Nonce           string                       `json:"nonce,omitempty"`
	EnforceNonce    bool                         `json:"enforce_nonce,omitempty"`
	Reference       *reference                   `json:"message_reference,omitempty"`
}

// Send posts a message. Post.Key becomes the nonce, which Discord enforces for some minutes: the
// same key sent again then returns the first message.
func (a *Adapter) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	b := body{
		Content: content(post), Components: rows(post.Buttons),
		AllowedMentions: mentions{Parse: []string{}}, Flags: flagNoEmbed,
	}
	if post.Silent {
		b.Flags |= flagSilent
	}
	if post.ReplyTo != "" {
		b.Reference = &reference{MessageID: post.ReplyTo}
		b.AllowedMentions.RepliedUser = post.Ping
	}
	if post.Key != "" && len(post.Key) <= maxNonce {
		b.Nonce, b.EnforceNonce = post.Key, true
		a.sent.begin(post.Key, b.Content)
	}
	m, err := a.create(ctx, "channels/"+target(chat)+"/messages", b, post.Files)
	if errors.Is(err, adapters.ErrInvalid) && codeOf(err) != codeTooLarge { // refused for its form: no answer is lost for that (P13)
		b.Content, b.Components = plain(post.Doc), []discordgo.MessageComponent{}
		a.log.Warn("refused a message, sending it as plain text", "error", err)
		m, err = a.create(ctx, "channels/"+target(chat)+"/messages", b, post.Files)
	}
	if err != nil {
		return adapters.Ref{}, err
	}
	a.sent.done(b.Nonce, m.ID)
	return adapters.Ref{Chat: chat, ID: m.ID}, nil
}

// create posts a body, as JSON or with files.
func (a *Adapter) create(ctx context.Context, path string, b body, files []adapters.File) (message, error) {
	var m message
	if len(files) == 0 {
		return m, a.call(ctx, http.MethodPost, path, b, &m)
	}
	var upload []*discordgo.File
	for _, f := range files {
		upload = append(upload, &discordgo.File{Name: f.Name, ContentType: f.MIME, Reader: bytes.NewReader(f.Data)})
	}
	contentType, data, err := discordgo.MultipartBodyWithJSON(b, upload)
	if err != nil {
		return m, invalid(err)
	}
	return m, a.raw(ctx, http.MethodPost, path, contentType, data, &m)
}

// Edit replaces text and buttons of a message.
func (a *Adapter) Edit(ctx context.Context, ref adapters.Ref, post adapters.Post) error {
	b := body{Content: content(post), Components: rows(post.Buttons), AllowedMentions: mentions{Parse: []string{}}}
	path := "channels/" + target(ref.Chat) + "/messages/" + ref.ID
	err := a.call(ctx, http.MethodPatch, path, b, nil)
	if errors.Is(err, adapters.ErrInvalid) {
		b.Content, b.Components = plain(post.Doc), []discordgo.MessageComponent{}
		a.log.Warn("refused an edit, sending it as plain text", "error", err)
		err = a.call(ctx, http.MethodPatch, path, b, nil)
	}
	return err
}

// Delete deletes one of the bot's messages.
func (a *Adapter) Delete(ctx context.Context, ref adapters.Ref) error {
	err := a.call(ctx, http.MethodDelete, "channels/"+target(ref.Chat)+"/messages/"+ref.ID, nil, nil)
	if errors.Is(err, adapters.ErrGone) {
		return nil
	}
	return err
}

// Pulse shows the typing indicator for about ten seconds.
func (a *Adapter) Pulse(ctx context.Context, chat adapters.Chat, _ adapters.Indication) error {
	return a.call(ctx, http.MethodPost, "channels/"+target(chat)+"/typing", nil, nil)
}

// React sets or removes the bot's reaction.
func (a *Adapter) React(ctx context.Context, ref adapters.Ref, _ adapters.Reaction, on bool) error {
	method := http.MethodDelete
	if on {
		method = http.MethodPut
	}
	err := a.call(ctx, method, "channels/"+target(ref.Chat)+"/messages/"+ref.ID+"/reactions/"+url.PathEscape("👀")+"/@me", nil, nil)
	if !on && codeOf(err) == codeUnknownEmoji { // nobody reacted with it
		return nil
	}
	return err
}

// target is the channel that a chat's calls go to: threads are channels of their own.
func target(chat adapters.Chat) string {
	if chat.Thread != "" {
		return url.PathEscape(chat.Thread)
	}
	return url.PathEscape(chat.ID)
}

// content is a post's text; a message without files must have some.
func content(post adapters.Post) string {
	text := Render(post.Doc)
	if text == "" && len(post.Files) == 0 {
		text = "…"
	}
	return text
}

// rows puts buttons into Discord's shape: 5 rows of 5, ids unique. No buttons is an empty list,
// which removes them in an edit.
func rows(buttons [][]adapters.Button) []discordgo.MessageComponent {
	out := []discordgo.MessageComponent{}
	seen := map[string]bool{}
	for _, row := range buttons {
		for part := range slices.Chunk(row, maxPerRow) {
			var r discordgo.ActionsRow
			for _, b := range part {
				if b.Data == "" || seen[b.Data] {
					continue
				}
				seen[b.Data] = true
				r.Components = append(r.Components, discordgo.Button{Label: label(b.Text), CustomID: b.Data, Style: styles[b.Style]})
			}
			if len(r.Components) > 0 && len(out) < maxRows {
				out = append(out, r)
			}
		}
	}
	return out
}

var styles = map[adapters.ButtonStyle]discordgo.ButtonStyle{
	adapters.StyleDefault: discordgo.SecondaryButton,
	adapters.StylePrimary: discordgo.PrimaryButton,
	adapters.StyleDanger:  discordgo.DangerButton,
}

func label(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		text = string(runes[:maxLabel-1]) + "…"
	}
	if text == "" {
		text = "·"
	}
	return text
}

// plain is a document without any markup, cut to what one message holds.
func plain(doc rich.Doc) string {
	text := Render(rich.Cut(rich.Plain(rich.Text(doc)), maxLength, measure))
	if text == "" {
		text = "…"
	}
	return text
}
