package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
)

// Slack's error codes by what they mean for us (docs.slack.dev/reference/methods).
var (
	codesAuth = []string{
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type", "no_permission",
		"org_login_required", "user_removed_from_team", "team_disabled", "app_not_installed", "two_factor_setup_required",
	}
	codesDenied = []string{
		"missing_scope", "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
		"restricted_action_non_threadable_channel", "access_denied", "not_in_channel", "is_archived", "is_inactive", "ekm_access_denied",
		"team_access_not_granted", "user_is_restricted", "cant_delete_message", "compliance_exports_prevent_deletion", "as_user_not_supported",
		"messages_tab_disabled", "cannot_dm_bot", "user_disabled", "team_not_found", "enterprise_is_restricted", "slack_connect_blocked_file_type",
	}
	codesGone = []string{
		"message_not_found", "channel_not_found", "thread_not_found", "cant_update_message", "invalid_thread_ts", "user_not_found", "users_not_found",
		"file_not_found", "file_deleted",
	}
	codesTooOld  = []string{"edit_window_closed"}
	codesLimited = []string{"ratelimited", "rate_limited", "message_limit_exceeded"}
	codesServer  = []string{
		"internal_error", "fatal_error", "service_unavailable", "request_timeout", "server_error", "team_added_to_org", "accesslimited", noErrorGiven,
	}
	// codesForm refuse how a message is made, not what it says.
	codesForm = []string{
		"invalid_blocks", "invalid_blocks_format", "invalid_block", "msg_blocks_too_long", "invalid_attachments", "block_mismatch",
		"markdown_text_conflict", "msg_too_long",
	}
)

// code is Slack's own word for an error; "" where it gave none.
func code(err error) string {
	var answer slack.SlackErrorResponse
	if errors.As(err, &answer) {
		return answer.Err
	}
	return ""
}

// wrap makes an error of a call into what callers tell apart (adapters/errors.go).
func wrap(call string, err error) error {
	if err == nil {
		return nil
	}
	var limited *slack.RateLimitedError
	if errors.As(err, &limited) {
		return &adapters.RateLimitError{RetryAfter: max(limited.RetryAfter, time.Second), Err: fmt.Errorf("slack %s: %w", call, err)}
	}
	if errors.Is(err, adapters.ErrNeverSent) || errors.Is(err, adapters.ErrUnknownOutcome) {
		return fmt.Errorf("slack %s: %w", call, err)
	}
	kind := adapters.ErrUnknownOutcome // among others an answer that can't be read
	var status slack.StatusCodeError
	c := code(err)
	switch {
	case errors.As(err, &status):
		kind = statusKind(status.Code)
	case c == "":
	case slices.Contains(codesLimited, c):
		return &adapters.RateLimitError{RetryAfter: time.Second, Err: fmt.Errorf("slack %s: %w", call, err)}
	case slices.Contains(codesAuth, c), slices.Contains(codesDenied, c):
		kind = adapters.ErrDenied
	case slices.Contains(codesGone, c):
		kind = adapters.ErrGone
	case slices.Contains(codesTooOld, c):
		kind = adapters.ErrTooOld
	case slices.Contains(codesServer, c):
	default:
		kind = adapters.ErrInvalid
	}
	return fmt.Errorf("slack %s: %w: %w%s", call, kind, err, detail(err))
}

// detail adds what Slack says on top of its code.
func detail(err error) string {
	var answer slack.SlackErrorResponse
	if !errors.As(err, &answer) {
		return ""
	}
	switch {
	case answer.Needed != "":
		return " (needs the scope " + answer.Needed + ")"
	case len(answer.ResponseMetadata.Messages) > 0:
		return " (" + answer.ResponseMetadata.Messages[0] + ")"
	}
	return ""
}

func statusKind(status int) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return adapters.ErrDenied
	case status == http.StatusNotFound || status == http.StatusGone:
		return adapters.ErrGone
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return adapters.ErrInvalid
	}
	return adapters.ErrUnknownOutcome
}

// fatal turns an error of connecting that no retry will change into a sentence that says what to
// do; nil = worth another try. token names the config key of the token in use.
func fatal(token string, err error) *adapters.FatalError {
	var status slack.StatusCodeError
	c := code(err)
	sentence := ""
	switch {
	case errors.As(err, &status) && status.Code == http.StatusNotFound:
		sentence = "the address of the API answers 404: check channels.slack.apiURL; it ends in /api/"
	case c == "invalid_auth" || c == "not_authed" || c == "token_revoked" || c == "token_expired":
		sentence = fmt.Sprintf("Slack does not accept %s (%s): %s", token, c, renew(token))
	case c == "account_inactive" || c == "user_removed_from_team" || c == "app_not_installed":
		sentence = fmt.Sprintf("the app is not installed in the workspace any more (%s): install it again and put the new token into channels.slack.%s", c, token)
	case c == "team_disabled" || c == "org_login_required":
		sentence = fmt.Sprintf("the workspace does not let the app in (%s): ask its administrator", c)
	case c == "not_allowed_token_type":
		sentence = fmt.Sprintf("%s is a token of the wrong kind (%s): botToken begins with xoxb-, appToken with xapp-", token, c)
	case c == "missing_scope" || c == "no_permission":
		sentence = fmt.Sprintf("%s lacks a permission (%s%s): %s", token, c, detail(err), renew(token))
	case c == "socket_mode_disabled" || c == "socket_mode_not_enabled" || c == "link_disabled":
		sentence = fmt.Sprintf("Socket Mode is off (%s): switch it on in the app's settings under Socket Mode", c)
	default:
		return nil
	}
	return &adapters.FatalError{Channel: channelName, Sentence: sentence, Err: err}
}

func renew(token string) string {
	if token == "appToken" {
		return "make an app-level token with the scope connections:write (Basic Information → App-Level Tokens) and put it into channels.slack.appToken"
	}
	return "install the app again (OAuth & Permissions) and put its Bot User OAuth Token into channels.slack.botToken"
}
