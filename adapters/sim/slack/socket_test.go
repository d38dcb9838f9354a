package slack

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

func TestUnacknowledgedEventsComeAgain(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		c := r.connect(false)
		c.take()
		start := time.Now()
		if _, err := r.s.Say(sim.Say{Chat: DM, Person: Ann, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		var at []time.Duration
		ids := map[any]bool{}
		for range 600 {
			<-time.After(time.Second)
			for _, m := range c.take() {
				at = append(at, time.Since(start).Truncate(time.Second))
				ids[m["envelope_id"]] = true
				if m["retry_attempt"] != float64(len(at)-1) || (m["retry_reason"] == "timeout") != (len(at) > 1) {
					t.Errorf("attempt %d: %v, %v", len(at), m["retry_attempt"], m["retry_reason"])
				}
			}
		}
		// 3 s without an acknowledgement; then at once, after 1 min, after 5 min.
		want := []time.Duration{time.Second, 4 * time.Second, 67 * time.Second, 370 * time.Second}
		if len(at) != 4 || len(ids) != 4 {
			t.Fatalf("delivered at %v", at)
		}
		for i := range want {
			if d := at[i] - want[i]; d < -2*time.Second || d > 2*time.Second {
				t.Errorf("delivery %d after %s, want %s", i, at[i], want[i])
			}
		}
	})
}

func TestOfWhatIsRememberedTheAppHearsNothing(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		head, err := r.s.Remember(sim.Say{Chat: General, Person: Bob, Text: "older than the app"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.s.Remember(sim.Say{Chat: General, Person: Ann, Text: "a reply", Thread: head, Mention: true}); err != nil {
			t.Fatal(err)
		}
		c := r.connect(true)
		<-time.After(10 * time.Minute) // beyond the last retry
		for _, m := range c.take() {
			if m["type"] != "hello" {
				t.Errorf("the app got %v", m)
			}
		}
		if a := r.call("conversations.replies", "channel", General, "ts", head); a.error() != "" || len(a["messages"].([]any)) != 2 {
			t.Errorf("the thread is %v", a)
		}
	})
}

func TestAcknowledgedEventsDoNot(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		c := r.connect(true)
		c.take()
		if _, err := r.s.Say(sim.Say{Chat: DM, Person: Ann, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute)
		if n := len(c.take()); n != 1 {
			t.Errorf("delivered %d times", n)
		}
	})
}

// Several connections: each event goes to one of them, and to another when that one has gone.
func TestSeveralConnections(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		a, b := r.connect(true), r.connect(true)
		if hello := b.take(); len(hello) != 1 || hello[0]["type"] != "hello" || hello[0]["num_connections"] != 2.0 {
			t.Errorf("got %v", hello)
		}
		a.take()
		say := func() {
			t.Helper()
			if _, err := r.s.Say(sim.Say{Chat: DM, Person: Ann, Text: "hello"}); err != nil {
				t.Fatal(err)
			}
			r.settle()
		}
		say()
		if na, nb := len(a.take()), len(b.take()); na+nb != 1 {
			t.Errorf("%d and %d deliveries", na, nb)
		}
		a.conn.Close()
		r.settle()
		say()
		if n := len(b.take()); n != 1 {
			t.Errorf("%d deliveries to the one that is left", n)
		}
	})
}

func TestTicketIsGoodOnce(t *testing.T) {
	bubble(t, Options{}, func(r *rig) {
		address := r.call("apps.connections.open", "token", AppToken)["url"].(string)
		r.connect(true)
		httpURL := "http" + strings.TrimPrefix(address, "ws")
		first, err := r.http.Get(httpURL) // no upgrade: the ticket is spent all the same
		if err != nil {
			t.Fatal(err)
		}
		first.Body.Close()
		second, err := r.http.Get(httpURL)
		if err != nil {
			t.Fatal(err)
		}
		second.Body.Close()
		if second.StatusCode != 403 {
			t.Errorf("HTTP %d", second.StatusCode)
		}
	})
}

func TestConnectionIsWarnedAndRefreshed(t *testing.T) {
	bubble(t, Options{ConnectionLife: time.Minute}, func(r *rig) {
		c := r.connect(true)
		<-time.After(2 * time.Minute)
		var got []string
		for _, m := range c.take() {
			kind, _ := m["type"].(string)
			reason, _ := m["reason"].(string)
			got = append(got, kind+" "+reason)
		}
		if strings.Join(got, ",") != "hello ,disconnect warning,disconnect refresh_requested" || r.s.Connections() != 0 {
			t.Errorf("got %v, %d connections", got, r.s.Connections())
		}
	})
}

// The shapes that the miniature sends have only what the real ones have, of the same types, and
// what the adapter needs of them.
func TestShapes(t *testing.T) {
	bubble(t, Options{NoLimits: true}, func(r *rig) {
		c := r.connect(true)
		got := map[string]map[string]any{"hello": c.take()[0]}
		take := func(names ...string) {
			t.Helper()
			r.settle()
			list := c.take()
			if len(list) != len(names) {
				t.Fatalf("%v: %d envelopes", names, len(list))
			}
			for i, name := range names {
				got[name] = list[i]
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := r.s.Say(sim.Say{Chat: DM, Person: Ann, Text: "hi"})
		must(err)
		take("message_im")
		head, err := r.s.Say(sim.Say{Chat: General, Person: Ann, Text: "hi", Mention: true})
		must(err)
		take("app_mention", "message_channel")
		_, err = r.s.Say(sim.Say{Chat: General, Person: Bob, Text: "hi", Thread: head})
		must(err)
		take("message_thread")
		_, err = r.s.Say(sim.Say{Chat: DM, Person: Ann, Files: []sim.File{{Name: "a.png", MIME: "image/png", Data: []byte("x")}}})
		must(err)
		take("message_file_share")
		must(r.s.EditMessage(General, Ann, head, "@typist else"))
		take("message_changed_edit")
		must(r.s.Unfurl(General, head))
		take("message_changed_unfurl")
		ts := r.post("channel", General, "text", "x", "thread_ts", head, "blocks", `[{"type":"actions","elements":[{"type":"button","action_id":"a","value":"v","style":"danger","text":{"type":"plain_text","text":"Stop","emoji":true}}]}]`)
		take("message_from_bot")
		must(r.s.Press(General, Bob, ts, "v"))
		take("block_actions")
		r.call("chat.update", "channel", General, "ts", ts, "text", "y")
		take("message_changed_by_bot")
		r.call("chat.delete", "channel", General, "ts", ts)
		take("message_deleted")
		must(r.s.Command(sim.CommandUse{Chat: General, Person: Bob, Name: "typing", Args: "thinking 4"}))
		take("slash_command")
		must(r.s.Command(sim.CommandUse{Chat: General, Person: Bob, Name: "branch", Target: head}))
		take("message_action")
		r.s.StopSession(General, head, Bob)
		take("agent_session_stopped")
		r.s.Refresh()
		take("disconnect")
		for name, ours := range got {
			raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			must(err)
			var real map[string]any
			must(json.Unmarshal(raw, &real))
			for _, problem := range compare("", ours, real) {
				t.Errorf("%s: %s", name, problem)
			}
		}
	})
}

// extra are fields that real payloads have at times, though the sample does not; and missing are
// those of the sample that ours may leave out.
var (
	extra   = strings.Fields("edited upload thread_ts parent_user_id reply_count reply_users_count is_locked subscribed client_msg_id attachments blocks shares bot_profile app_id team bot_id files user_team style attachments has_rich_preview subtype")
	missing = strings.Fields("blocks client_msg_id user_team source_team last_read latest_reply reply_users reply_count reply_users_count is_locked subscribed " +
		"thread_ts parent_user_id icons thumb_64 original_w original_h permalink_public attachments service_icon original_url title_link id bot_id upload display_as_bot style edited")
)

func compare(path string, ours, real any) []string {
	var out []string
	switch r := real.(type) {
	case map[string]any:
		o, ok := ours.(map[string]any)
		if !ok {
			return []string{path + " is no object"}
		}
		if path != "" && o["type"] != r["type"] { // another kind of block
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(o)) {
			if v, has := r[k]; has {
				out = append(out, compare(path+"/"+k, o[k], v)...)
			} else if !slices.Contains(extra, k) {
				out = append(out, path+"/"+k+" does not exist in reality")
			}
		}
		for _, k := range slices.Sorted(maps.Keys(r)) {
			if _, has := o[k]; !has && !slices.Contains(missing, k) {
				out = append(out, path+"/"+k+" is missing")
			}
		}
	case []any:
		o, ok := ours.([]any)
		if !ok {
			return []string{path + " is no list"}
		}
		if len(o) > 0 && len(r) > 0 {
			out = append(out, compare(path+"/0", o[0], r[0])...)
		}
	case nil:
	case string:
		if _, ok := ours.(string); !ok {
			out = append(out, path+" is no string")
		}
	case float64:
		if _, ok := ours.(float64); !ok {
			out = append(out, path+" is no number")
		}
	case bool:
		if _, ok := ours.(bool); !ok {
			out = append(out, path+" is no boolean")
		}
	}
	return out
}
