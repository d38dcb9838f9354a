package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
)

// client calls a server as a program without a library would.
type client struct {
	*testing.T
	srv  *Server
	http *http.Client
}

type reply struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// inBubble runs a test against a server in memory, with a bubble's clock.
func inBubble(t *testing.T, opts Options, test func(c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.Listener = simnet.Listen()
		srv, err := New(opts)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{T: t, srv: srv, http: srv.Client()}
		test(c)
		c.http.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (c *client) call(method string, fields map[string]any) reply {
	c.Helper()
	return c.callAs(DefaultToken, method, fields)
}

func (c *client) callAs(token, method string, fields map[string]any) reply {
	c.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		c.Fatal(err)
	}
	resp, err := c.http.Post(c.srv.URL()+"/bot"+token+"/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		c.Fatalf("%s: %v", method, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		c.Fatalf("%s: %s", method, raw)
	}
	if !r.OK && r.ErrorCode != resp.StatusCode {
		c.Errorf("%s: error_code %d with status %d", method, r.ErrorCode, resp.StatusCode)
	}
	return r
}

// refuses checks a call's error.
func (c *client) refuses(method string, fields map[string]any, code int, text string) {
	c.Helper()
	if r := c.call(method, fields); r.OK || r.ErrorCode != code || !strings.Contains(r.Description, text) {
		c.Errorf("%s %v: got %d %q, want %d %q", method, fields, r.ErrorCode, r.Description, code, text)
	}
}

func (c *client) send(chat, text string) int {
	c.Helper()
	r := c.call("sendMessage", map[string]any{"chat_id": chat, "text": text})
	var m Message
	if err := json.Unmarshal(r.Result, &m); err != nil || m.MessageID == 0 {
		c.Fatalf("send: %+v, %v", r, err)
	}
	return m.MessageID
}

func TestCallsAreStrict(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		id := c.send(DirectChat, "here")
		chat := func(more ...any) map[string]any {
			m := map[string]any{"chat_id": DirectChat}
			for i := 0; i < len(more); i += 2 {
				m[more[i].(string)] = more[i+1]
			}
			return m
		}
		c.refuses("sendMessage", chat("text", ""), 400, "message text is empty")
		c.refuses("sendMessage", chat("text", " \n\u2060 "), 400, "message text is empty")
		c.refuses("sendMessage", chat("text", strings.Repeat("🙂", 2048)+"x"), 400, "message is too long")
		c.refuses("sendMessage", chat("text", "<b>x", "parse_mode", "HTML"), 400, "can't parse entities: Can't find end tag")
		c.refuses("sendMessage", chat("text", "x", "message_thread_id", 7), 400, "message thread not found")
		c.refuses("sendMessage", chat("text", "x", "reply_parameters", map[string]any{"message_id": 999}), 400, "message to be replied not found")
		c.refuses("sendMessage", chat("text", "x", "unheard_of", 1), 400, "unknown field")
		c.refuses("sendMessage", map[string]any{"chat_id": "777", "text": "x"}, 400, "chat not found")
		button := func(data string) any {
			return map[string]any{"inline_keyboard": [][]map[string]any{{{"text": "B", "callback_data": data}}}}
		}
		c.refuses("sendMessage", chat("text", "x", "reply_markup", button(strings.Repeat("é", 33))), 400, "BUTTON_DATA_INVALID")
		if r := c.call("sendMessage", chat("text", "x", "reply_markup", button(strings.Repeat("é", 32)))); !r.OK {
			t.Errorf("64 bytes of data: %+v", r)
		}
		if r := c.call("sendMessage", chat("text", "<i>"+strings.Repeat("🙂", 2048)+"</i>", "parse_mode", "HTML")); !r.OK {
			t.Errorf("4096 units after parsing: %+v", r)
		}
		c.refuses("editMessageText", chat("message_id", id, "text", "here"), 400, "message is not modified")
		c.refuses("editMessageText", chat("message_id", 9999, "text", "x"), 400, "message to edit not found")
		c.refuses("deleteMessage", chat("message_id", 9999), 400, "message to delete not found")
		c.refuses("sendChatAction", chat("action", "dancing"), 400, "wrong parameter action in request")
		c.refuses("setMessageReaction", chat("message_id", id, "reaction", []any{map[string]any{"type": "emoji", "emoji": "🧨"}}), 400, "REACTION_INVALID")
		c.refuses("answerCallbackQuery", map[string]any{"callback_query_id": "1"}, 400, "query is too old")
		c.refuses("noSuchMethod", nil, 404, "Not Found")
		if r := c.callAs("9001:wrong", "getMe", nil); r.ErrorCode != 401 {
			t.Errorf("a wrong token: %+v", r)
		}
		if r := c.callAs("nonsense", "getMe", nil); r.ErrorCode != 404 {
			t.Errorf("no token: %+v", r)
		}
		c.srv.Block(DirectChat, true)
		c.refuses("sendMessage", chat("text", "x"), 403, "bot was blocked by the user")
		<-time.After(49 * time.Hour)
		c.srv.Block(DirectChat, false)
		c.refuses("deleteMessage", chat("message_id", id), 400, "message can't be deleted")
	})
}

func TestAnEditWithoutMarkupDropsTheButtons(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		markup := map[string]any{"inline_keyboard": [][]map[string]any{{{"text": "Stop", "callback_data": "s"}}}}
		c.call("sendMessage", map[string]any{"chat_id": DirectChat, "text": "x", "reply_markup": markup})
		c.call("editMessageText", map[string]any{"chat_id": DirectChat, "message_id": 1, "text": "y"})
		if m, _ := c.srv.World().Message(DirectChat, "1"); m.Text != "y" || len(m.Buttons) != 0 {
			t.Errorf("people see %+v", m)
		}
	})
}

func TestT6_ChatActionsLastFiveSecondsInTheirTopic(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		w := c.srv.World()
		showing := func(thread string) bool { on, _ := w.Typing(ForumChat, thread); return on }
		c.call("sendChatAction", map[string]any{"chat_id": ForumChat, "action": "typing"})
		if showing("") || showing(TopicPlans) {
			t.Error("an action without a topic shows in a forum")
		}
		c.call("sendChatAction", map[string]any{"chat_id": ForumChat, "action": "typing", "message_thread_id": 1})
		c.call("sendChatAction", map[string]any{"chat_id": ForumChat, "action": "typing", "message_thread_id": TopicPlans})
		if !showing("") || !showing(TopicPlans) || showing(TopicOps) {
			t.Error("General and Plans should show it, and Ops not")
		}
		<-time.After(actionLife - time.Millisecond)
		if !showing(TopicPlans) {
			t.Error("it lapsed early")
		}
		<-time.After(time.Millisecond)
		if showing(TopicPlans) {
			t.Error("it did not lapse")
		}
	})
}

func TestFloodLimitsTellHowLong(t *testing.T) {
	inBubble(t, Options{Limits: RealLimits()}, func(c *client) {
		sent := func(chat string, n int) (ok, wait int) {
			for i := range n {
				r := c.call("sendMessage", map[string]any{"chat_id": chat, "text": fmt.Sprint("x", i)})
				if !r.OK {
					return i, r.Parameters.RetryAfter
				}
			}
			return n, 0
		}
		if ok, wait := sent(DirectChat, 10); ok != 3 || wait != 1 {
			t.Errorf("%d messages at once, then a wait of %d s; want 3 and 1", ok, wait)
		}
		<-time.After(time.Second)
		if ok, _ := sent(DirectChat, 2); ok != 1 {
			t.Errorf("after a second %d messages, want 1", ok)
		}
		for i := range 20 {
			<-time.After(1500 * time.Millisecond)
			if ok, _ := sent(GroupChat, 1); ok != 1 {
				t.Fatalf("message %d of 20 in a minute was refused", i)
			}
		}
		<-time.After(1500 * time.Millisecond)
		if ok, wait := sent(GroupChat, 1); ok != 0 || wait != 30 {
			t.Errorf("the 21st of a minute: %d sent, wait %d s; want 30 s", ok, wait)
		}
		<-time.After(30 * time.Second)
		if ok, _ := sent(GroupChat, 1); ok != 1 {
			t.Error("refused after the wait")
		}
	})
	inBubble(t, Options{Limits: Limits{PerSecond: 30, Burst: 30}}, func(c *client) {
		ok := 0
		for i := range 40 {
			if c.call("sendMessage", map[string]any{"chat_id": DirectChat, "text": fmt.Sprint(i)}).OK {
				ok++
			}
		}
		if ok != 30 {
			t.Errorf("%d messages of the whole bot at once, want 30", ok)
		}
	})
}

func TestFaultsCutAndDelay(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		w := c.srv.World()
		w.Inject(sim.Fault{Op: sim.OpSend, Times: 1, Cut: sim.CutAfter})
		w.Inject(sim.Fault{Op: sim.OpSend, Times: 1, Cut: sim.CutBefore})
		for range 2 {
			if resp, err := c.http.Post(c.srv.URL()+"/bot"+DefaultToken+"/sendMessage", "application/json",
				strings.NewReader(`{"chat_id":1001,"text":"x"}`)); err == nil {
				resp.Body.Close()
				t.Error("an answer came over a cut connection")
			}
		}
		if n := len(w.Messages(DirectChat, "*")); n != 1 {
			t.Errorf("%d messages stand, want 1", n)
		}
		w.Inject(sim.Fault{Op: sim.OpSend, Times: 1, Delay: 8 * time.Second})
		before := time.Now()
		c.send(DirectChat, "late")
		if d := time.Since(before); d != 8*time.Second {
			t.Errorf("it took %s", d)
		}
		w.Inject(sim.Fault{Op: sim.OpSend, Times: 1, Status: 429, RetryAfter: 2500 * time.Millisecond})
		if r := c.call("sendMessage", map[string]any{"chat_id": DirectChat, "text": "x"}); r.Parameters.RetryAfter != 3 {
			t.Errorf("got %+v", r)
		}
	})
}
