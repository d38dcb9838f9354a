package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The wire types have only what is read. Shapes: @slack/types events/*, and
// docs.slack.dev/reference/interaction-payloads. slack-go's own types are not used for what comes
// in: a block or file it does not know makes it refuse the whole event.

type envelope struct {
	ID      string          `json:"envelope_id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

type callback struct {
	Type  string `json:"type"`
	ID    string `json:"event_id"`
	Event inner  `json:"event"`
}

// inner is an event of the Events API, or a message within one.
type inner struct {
	Type        string       `json:"type"`
	Subtype     string       `json:"subtype"`
	Channel     string       `json:"channel"`
	User        string       `json:"user"`
	BotID       string       `json:"bot_id"`
	Text        string       `json:"text"`
	TS          string       `json:"ts"`
	ThreadTS    string       `json:"thread_ts"`
	EventTS     string       `json:"event_ts"`
	ParentUser  string       `json:"parent_user_id"`
	Files       []wireFile   `json:"files"`
	Attachments []attachment `json:"attachments"`
	Edited      *struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Message  *inner `json:"message"`
	Previous *inner `json:"previous_message"`
	Root     *inner `json:"root"`
}

type wireFile struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	MIME     string `json:"mimetype"`
	Mode     string `json:"mode"`
	Size     int64  `json:"size"`
	URL      string `json:"url_private"`
	Download string `json:"url_private_download"`
	Access   string `json:"file_access"`
	External bool   `json:"is_external"`
}

// attachment is read only for messages that a person forwarded.
type attachment struct {
	Share  bool   `json:"is_share"`
	Unfurl bool   `json:"is_msg_unfurl"`
	Text   string `json:"text"`
	Author string `json:"author_name"`
}

type slashCommand struct {
	Command     string `json:"command"`
	Text        string `json:"text"`
	Channel     string `json:"channel_id"`
	ChannelName string `json:"channel_name"`
	User        string `json:"user_id"`
	UserName    string `json:"user_name"`
	ResponseURL string `json:"response_url"`
	Trigger     string `json:"trigger_id"`
}

type interaction struct {
	Type        string `json:"type"`
	CallbackID  string `json:"callback_id"`
	Trigger     string `json:"trigger_id"`
	ActionTS    string `json:"action_ts"`
	MessageTS   string `json:"message_ts"`
	ResponseURL string `json:"response_url"`
	User        struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"user"`
	Channel struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"channel"`
	Container struct {
		Channel   string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
		Ephemeral bool   `json:"is_ephemeral"`
	} `json:"container"`
	Message *inner `json:"message"`
	Actions []struct {
		Type     string `json:"type"`
		ActionID string `json:"action_id"`
		ActionTS string `json:"action_ts"`
		Value    string `json:"value"`
	} `json:"actions"`
}

// read decodes JSON as far as it fits: a field of an unexpected type is left empty, it does not
// cost the event.
func read(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	var typeErr *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &typeErr) {
		return fmt.Errorf("decoding: %w", err)
	}
	return nil
}

// tsTime is the time in a ts; zero if it is none.
func tsTime(ts string) time.Time {
	sec, micro, ok := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	u, err2 := strconv.ParseInt(micro, 10, 64)
	if !ok || err != nil || err2 != nil || s < 0 || u < 0 || u > 999999 {
		return time.Time{}
	}
	return time.Unix(s, u*1000)
}
