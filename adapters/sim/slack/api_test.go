package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

func TestStrictCalls(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	bubble(t, Options{NoLimits: true}, func(r *rig) {
		theirs, err := r.s.Say(sim.Say{Chat: General, Person: Ann, Text: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		r.s.World().AddChat(sim.Chat{ID: "C0ARCHIVE", Name: "archive"})
		mine := r.post("channel", General, "text", "bot's")
		for _, c := range []struct {
			method string
			params []string
			want   string
		}{
			{"auth.test", nil, ""},
			{"auth.test", []string{"token", "xoxb-other"}, "invalid_auth"},
			{"auth.test", []string{"token", ""}, "not_authed"},
			{"auth.test", []string{"token", AppToken}, "not_allowed_token_type"},
			{"apps.connections.open", nil, "not_allowed_token_type"},
			{"chat.nothing", nil, "unknown_method"},
			{"chat.postMessage", []string{"channel", General}, "no_text"},
			{"chat.postMessage", []string{"channel", General, "blocks", "[]"}, "no_text"},
			{"chat.postMessage", []string{"text", "x"}, "channel_not_found"},
			{"chat.postMessage", []string{"channel", "C0NOWHERE", "text", "x"}, "channel_not_found"},
			{"chat.postMessage", []string{"channel", General, "text", long(40001)}, "msg_too_long"},
			{"chat.postMessage", []string{"channel", General, "text", "x", "blocks", "{"}, "invalid_blocks_format"},
			{"chat.postMessage", []string{"channel", General, "text", "x", "metadata", "{}"}, "invalid_metadata_format"},
			{"chat.postMessage", []string{"channel", General, "text", "x", "thread_ts", "soon"}, "invalid_thread_ts"},
			{"chat.postMessage", []string{"channel", Ann, "text", "to a person"}, ""},
			{"chat.update", []string{"channel", General, "ts", "1.000001", "text", "x"}, "message_not_found"},
			{"chat.update", []string{"channel", General, "ts", theirs, "text", "x"}, "cant_update_message"},
			{"chat.update", []string{"channel", General, "ts", mine, "text", long(4001)}, "msg_too_long"},
			{"chat.update", []string{"channel", General, "ts", mine, "text", "x"}, ""},
			{"chat.delete", []string{"channel", General, "ts", theirs}, "cant_delete_message"},
			{"chat.delete", []string{"channel", General, "ts", "1.000001"}, "message_not_found"},
			{"chat.postEphemeral", []string{"channel", General, "user", "U0NOBODY", "text", "x"}, "user_not_in_channel"},
			{"conversations.replies", []string{"channel", General, "ts", "1.000001"}, "thread_not_found"},
			{"conversations.history", []string{"channel", General, "cursor", "x"}, "invalid_cursor"},
			{"users.info", []string{"user", "U0NOBODY"}, "user_not_found"},
			{"conversations.open", []string{"users", botUserID}, "user_not_found"},
			{"reactions.add", []string{"channel", General, "timestamp", "1.000001", "name", "eyes"}, "message_not_found"},
			{"reactions.add", []string{"channel", General, "timestamp", theirs, "name", ":eyes:"}, "invalid_name"},
			{"reactions.add", []string{"channel", General, "timestamp", theirs, "name", "eyes"}, ""},
			{"reactions.add", []string{"channel", General, "timestamp", theirs, "name", "eyes"}, "already_reacted"},
			{"reactions.remove", []string{"channel", General, "timestamp", theirs, "name", "eyes"}, ""},
			{"reactions.remove", []string{"channel", General, "timestamp", theirs, "name", "eyes"}, "no_reaction"},
			{"assistant.threads.setStatus", []string{"channel_id", General, "status", "x"}, "invalid_arguments"},
			{"assistant.threads.setStatus", []string{"channel_id", General, "thread_ts", theirs}, "invalid_arguments"},
			{"assistant.threads.setStatus", []string{"channel_id", General, "thread_ts", "1.000001", "status", "x"}, "invalid_thread_ts"},
			{"assistant.threads.setStatus", []string{"channel_id", General, "thread_ts", theirs, "status", "x", "loading_messages", strings.Repeat("a,", 11)}, "invalid_arguments"},
			{"files.getUploadURLExternal", []string{"filename", "a.txt"}, "invalid_arguments"},
			{"files.completeUploadExternal", []string{"files", `[{"id":"F1"}]`, "channel_id", General}, "file_not_found"},
		} {
			a, resp := r.raw(c.method, c.params...)
			if a.error() != c.want || resp.StatusCode != http.StatusOK {
				t.Errorf("%s %.60v: got %v, HTTP %d; want %q", c.method, c.params, a, resp.StatusCode, c.want)
			}
		}
	})
}

func TestScopes(t *testing.T) {
	bubble(t, Options{Scopes: []string{"users:read"}}, func(r *rig) {
		a := r.call("chat.postMessage", "channel", General, "text", "x")
		if a.error() != "missing_scope" || a["needed"] != "chat:write" || a["provided"] != "users:read" {
			t.Errorf("got %v", a)
		}
	})
}

func TestBlocksAreChecked(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	section := func(n int) string {
		return `{"type":"section","text":{"type":"plain_text","text":"` + long(n) + `"}}`
	}
	rich := func(elements string) string { return `{"type":"rich_text","elements":[` + elements + `]}` }
	text := `{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}`
	button := func(id, value, label string) string {
		return fmt.Sprintf(`{"type":"button","action_id":%q,"value":%q,"text":{"type":"plain_text","text":%q}}`, id, value, label)
	}
	table := func(rows, cells int) string {
		cell := `{"type":"raw_text","text":"x"}`
		row := "[" + strings.TrimSuffix(strings.Repeat(cell+",", cells), ",") + "]"
		return `{"type":"table","rows":[` + strings.TrimSuffix(strings.Repeat(row+",", rows), ",") + `]}`
	}
	for _, c := range []struct{ blocks, want string }{
		{section(3000), ""},
		{section(3001), "invalid_blocks"},
		{section(0), "invalid_blocks"},
		{strings.TrimSuffix(strings.Repeat(section(1)+",", 50), ","), ""},
		{strings.TrimSuffix(strings.Repeat(section(1)+",", 51), ","), "invalid_blocks"},
		{strings.TrimSuffix(strings.Repeat(section(2900)+",", 5), ","), "msg_blocks_too_long"},
		{`{"type":"markdown","text":"` + long(12000) + `"}`, ""},
		{`{"type":"markdown","text":"` + long(12001) + `"}`, "msg_blocks_too_long"},
		{`{"type":"header","text":{"type":"plain_text","text":"` + long(151) + `"}}`, "invalid_blocks"},
		{`{"type":"header","text":{"type":"mrkdwn","text":"x"}}`, "invalid_blocks"},
		{`{"type":"block_of_tomorrow"}`, "invalid_blocks"},
		{`{"type":"divider","colour":"red"}`, "invalid_blocks"},
		{rich(text), ""},
		{rich(``), "invalid_blocks"},
		{rich(`{"type":"rich_text_section","elements":[]}`), "invalid_blocks"},
		{rich(`{"type":"rich_text_section","elements":[{"type":"text","text":""}]}`), "invalid_blocks"},
		{rich(`{"type":"rich_text_section","elements":[{"type":"link","url":"javascript:x","text":"x"}]}`), "invalid_blocks"},
		{rich(`{"type":"rich_text_preformatted","elements":[{"type":"emoji","name":"wave"}]}`), "invalid_blocks"},
		{rich(`{"type":"rich_text_list","style":"bullet","elements":[` + text + `]}`), ""},
		{rich(`{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_list","style":"bullet","elements":[` + text + `]}]}`), "invalid_blocks"},
		{rich(`{"type":"rich_text_list","style":"square","elements":[` + text + `]}`), "invalid_blocks"},
		{`{"type":"actions","elements":[` + button("a", long(255), long(75)) + `]}`, ""},
		{`{"type":"actions","elements":[` + button("a", long(256), "x") + `]}`, "invalid_blocks"},
		{`{"type":"actions","elements":[` + button("a", "x", long(76)) + `]}`, "invalid_blocks"},
		{`{"type":"actions","elements":[` + button("a", "x", "x") + "," + button("a", "y", "y") + `]}`, "invalid_blocks"},
		{`{"type":"actions","elements":[]}`, "invalid_blocks"},
		{table(100, 3), ""},
		{table(101, 3), "invalid_blocks"},
		{table(2, 21), "invalid_blocks"},
		{table(1, 1) + "," + table(1, 1), "invalid_attachments"},
		{`{"type":"table","rows":[[{"type":"raw_text","text":""}]]}`, "invalid_blocks"},
		{`{"type":"context","elements":[{"type":"plain_text","text":"x"}]}`, ""},
		{`{"type":"context","elements":[{"type":"plain_text","text":"` + long(2001) + `"}]}`, "invalid_blocks"},
	} {
		f := checkBlocks(json.RawMessage("["+c.blocks+"]"), nil)
		got := ""
		if f != nil {
			got = f.code
		}
		if got != c.want {
			t.Errorf("%.120s: got %q %v, want %q", c.blocks, got, f, c.want)
		}
	}
}

func TestRateLimits(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		for i := range 6 {
			a, resp := r.raw("chat.postMessage", "channel", General, "text", "x")
			if limited := i == 5; limited != (resp.StatusCode == 429) || limited && (a.error() != "ratelimited" || resp.Header.Get("Retry-After") != "1") {
				t.Fatalf("post %d: HTTP %d, Retry-After %q, %v", i, resp.StatusCode, resp.Header.Get("Retry-After"), a)
			}
		}
		if _, resp := r.raw("chat.postMessage", "channel", DM, "text", "x"); resp.StatusCode != 200 {
			t.Error("another channel is limited too")
		}
		<-time.After(time.Second)
		r.post("channel", General, "text", "again")
		n := 0
		for range 100 {
			if _, resp := r.raw("reactions.add", "channel", General, "timestamp", "1.000001", "name", "eyes"); resp.StatusCode == 429 {
				n++
			}
		}
		if n != 80 {
			t.Errorf("%d of 100 calls of a Tier 3 method at once were limited, want 80", n)
		}
	})
	bubble(t, Options{NoRetryAfter: true}, func(r *rig) {
		r.s.World().Inject(sim.Fault{Op: sim.OpSend, Status: 429, RetryAfter: 5 * time.Second})
		if _, resp := r.raw("chat.postMessage", "channel", General, "text", "x"); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "" {
			t.Errorf("HTTP %d, %v", resp.StatusCode, resp.Header)
		}
	})
}

func TestStatusLapsesAndIsCleared(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		head, err := r.s.Say(sim.Say{Chat: General, Person: Ann, Text: "question"})
		if err != nil {
			t.Fatal(err)
		}
		set := func(status string) {
			t.Helper()
			if a := r.call("assistant.threads.setStatus", "channel_id", General, "thread_ts", head, "status", status); a.error() != "" {
				t.Fatal(a)
			}
		}
		shows := func() bool { on, _ := r.s.World().Typing(General, head); return on }
		set("thinking")
		<-time.After(2*time.Minute - time.Second)
		if !shows() {
			t.Error("gone before its time")
		}
		<-time.After(time.Second)
		if shows() {
			t.Error("stands after 2 min")
		}
		set("thinking")
		r.post("channel", General, "text", "elsewhere")
		if !shows() {
			t.Error("a post in the channel took a thread's status away")
		}
		r.post("channel", General, "text", "answer", "thread_ts", head)
		if shows() {
			t.Error("stands after the answer")
		}
		set("thinking")
		set("")
		if shows() {
			t.Error("stands after clearing")
		}
		if calls := r.s.World().Calls(sim.OpClear); len(calls) != 1 {
			t.Errorf("%d clears", len(calls))
		}
	})
}

func TestPings(t *testing.T) {
	bubble(t, Options{NoLimits: true}, func(r *rig) {
		for _, c := range []struct {
			params []string
			want   string
		}{
			{[]string{"text", "<@" + Ann + "> and <!channel>"}, "[U0ANN everyone]"},
			{[]string{"text", "&lt;!channel&gt; @channel"}, "[]"},
			{[]string{"text", "@channel", "parse", "full"}, "[everyone]"},
			{[]string{"text", "@everyone", "link_names", "true"}, "[everyone]"},
			{[]string{"text", "x", "blocks", `[{"type":"section","text":{"type":"mrkdwn","text":"<!here>"}}]`}, "[everyone]"},
			{[]string{"text", "x", "blocks", `[{"type":"section","text":{"type":"plain_text","text":"<!here>"}}]`}, "[]"},
			{[]string{"text", "x", "blocks", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"user","user_id":"` + Bob + `"}]}]}]`}, "[U0BOB]"},
			{[]string{"text", "x", "blocks", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"broadcast","range":"here"}]}]}]`}, "[everyone]"},
			{[]string{"text", "x", "blocks", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"<!here>"}]}]}]`}, "[]"},
		} {
			ts := r.post(append([]string{"channel", General}, c.params...)...)
			m, _ := r.s.World().Message(General, ts)
			if got := fmt.Sprint(m.Pings); got != c.want {
				t.Errorf("%v: pings %s, want %s", c.params, got, c.want)
			}
		}
	})
}

func TestUpdateWithoutBlocksTakesThemAway(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		ts := r.post("channel", General, "text", "x", "blocks", `[{"type":"section","text":{"type":"plain_text","text":"block"}},{"type":"actions","elements":[{"type":"button","action_id":"a","value":"v","text":{"type":"plain_text","text":"B"}}]}]`)
		if m, _ := r.s.World().Message(General, ts); m.Text != "block" || len(m.Buttons) != 1 {
			t.Errorf("got %+v", m)
		}
		r.call("chat.update", "channel", General, "ts", ts, "text", "text &lt;b&gt;")
		if m, _ := r.s.World().Message(General, ts); m.Text != "text <b>" || len(m.Buttons) != 0 || strings.Contains(m.HTML, "<b>b") {
			t.Errorf("got %+v", m)
		}
	})
}
