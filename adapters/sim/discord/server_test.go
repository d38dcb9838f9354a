package discord

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

// client is a bot that speaks plain HTTP.
type client struct {
	*testing.T
	s    *Server
	http *http.Client
}

func inBubble(t *testing.T, opts Options, run func(c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.Listener = simnet.Listen()
		s, err := New(opts)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{T: t, s: s, http: opts.Listener.HTTPClient()}
		t.Cleanup(func() {
			c.http.CloseIdleConnections()
			s.Close()
		})
		run(c)
	})
}

// call makes a REST call; body is JSON text, or "".
func (c *client) call(method, path, body string) (int, map[string]any, http.Header) {
	c.Helper()
	req, err := http.NewRequest(method, c.s.URL()+"/api/v10/"+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	var out map[string]any
	if bytes.HasPrefix(data, []byte("{")) {
		if err := json.Unmarshal(data, &out); err != nil {
			c.Fatal(err)
		}
	}
	return resp.StatusCode, out, resp.Header
}

// want makes a call and checks its status and error code.
func (c *client) want(method, path, body string, status int, code float64) map[string]any {
	c.Helper()
	got, out, _ := c.call(method, path, body)
	if found, _ := out["code"].(float64); got != status || found != code {
		c.Errorf("%s %s %.80s: %d %v, want %d code %v", method, path, body, got, out, status, code)
	}
	return out
}

func quoted(s string) string {
	out, _ := json.Marshal(s) // a string always marshals
	return string(out)
}

func TestP14_MessagesAreChecked(t *testing.T) {
	inBubble(t, Options{Unlimited: true}, func(c *client) {
		button := func(id string) string { return `{"type":2,"style":1,"label":"x","custom_id":` + quoted(id) + `}` }
		row := func(buttons ...string) string {
			return `{"content":"x","components":[{"type":1,"components":[` + strings.Join(buttons, ",") + `]}]}`
		}
		post := "channels/" + DM + "/messages"
		for name, k := range map[string]struct {
			body   string
			status int
			code   float64
		}{
			"fine":               {`{"content":"x"}`, 200, 0},
			"2000 characters":    {`{"content":"` + strings.Repeat("x", 2000) + `"}`, 200, 0},
			"2001 characters":    {`{"content":"` + strings.Repeat("x", 2001) + `"}`, 400, 50035},
			"emoji count double": {`{"content":"` + strings.Repeat("😀", 1001) + `"}`, 400, 50035},
			"empty":              {`{"content":""}`, 400, 50006},
			"no JSON":            {`{`, 400, 50109},
			"buttons":            {row(button("a"), button("b")), 200, 0},
			"custom id of 100":   {row(button(strings.Repeat("i", 100))), 200, 0},
			"custom id of 101":   {row(button(strings.Repeat("i", 101))), 400, 50035},
			"the same id twice":  {row(button("a"), button("a")), 400, 50035},
			"six in a row":       {row(button("a"), button("b"), button("c"), button("d"), button("e"), button("f")), 400, 50035},
			"an empty row":       {row(), 400, 50035},
			"six rows":           {`{"content":"x","components":[` + strings.Repeat(`{"type":1,"components":[`+button("a")+`]},`, 5) + `{"type":1,"components":[` + button("b") + `]}]}`, 400, 50035},
			"no label":           {row(`{"type":2,"style":1,"custom_id":"a"}`), 400, 50035},
			"nonce of 26":        {`{"content":"x","nonce":"` + strings.Repeat("n", 26) + `"}`, 400, 50035},
			"reply to nothing":   {`{"content":"x","message_reference":{"message_id":"1"}}`, 400, 50035},
			"forgiving reply":    {`{"content":"x","message_reference":{"message_id":"1","fail_if_not_exists":false}}`, 200, 0},
		} {
			status, out, _ := c.call("POST", post, k.body)
			if code, _ := out["code"].(float64); status != k.status || code != k.code {
				t.Errorf("%s: %d %v", name, status, out)
			}
		}
		c.want("POST", "channels/404/messages", `{"content":"x"}`, 404, 10003)
		c.want("PATCH", post+"/404", `{"content":"x"}`, 404, 10008)
		c.want("DELETE", post+"/404", "", 404, 10008)
		id, err := c.s.Say(sim.Say{Chat: DM, Person: Ann, Text: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		c.want("PATCH", post+"/"+id, `{"content":"x"}`, 403, 50005)
		c.want("DELETE", post+"/"+id, "", 403, 50013)
		c.want("PUT", post+"/"+id+"/reactions/x/@me", "", 400, 10014)
		c.want("GET", "nothing/here", "", 404, 0)
	})
}

func TestS3_NonceIsEnforced(t *testing.T) {
	inBubble(t, Options{Unlimited: true}, func(c *client) {
		post := func(body string) any { _, out, _ := c.call("POST", "channels/"+DM+"/messages", body); return out["id"] }
		first := post(`{"content":"x","nonce":"n","enforce_nonce":true}`)
		if post(`{"content":"y","nonce":"n","enforce_nonce":true}`) != first {
			t.Error("the same nonce made a second message")
		}
		if post(`{"content":"y","nonce":"n"}`) == first {
			t.Error("a nonce that is not enforced was")
		}
		<-time.After(time.Hour)
		if post(`{"content":"y","nonce":"n","enforce_nonce":true}`) == first {
			t.Error("a nonce is remembered for an hour")
		}
		_, out, _ := c.call("GET", "channels/"+DM+"/messages/"+first.(string), "")
		if _, has := out["nonce"]; has {
			t.Error("a fetched message carries its nonce")
		}
	})
}

func TestP14_LimitsAreTold(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		path := "channels/" + DM + "/messages"
		for i := range 5 {
			status, _, h := c.call("POST", path, `{"content":"x"}`)
			if status != 200 || h.Get("X-RateLimit-Remaining") != fmt.Sprint(4-i) {
				t.Fatalf("call %d: %d, %v", i, status, h)
			}
		}
		<-time.After(1500 * time.Millisecond)
		status, out, h := c.call("POST", path, `{"content":"x"}`)
		if status != 429 || out["retry_after"] != 3.5 || h.Get("Retry-After") != "4" || out["global"] != false {
			t.Errorf("%d %v %v", status, out, h)
		}
		if status, _, _ := c.call("POST", "channels/"+General+"/messages", `{"content":"x"}`); status != 200 {
			t.Errorf("another channel: %d", status)
		}
		<-time.After(3500 * time.Millisecond)
		c.want("POST", path, `{"content":"x"}`, 200, 0)
		<-time.After(time.Minute)
		global := 0
		for range 60 {
			if status, out, _ := c.call("GET", "users/@me", ""); status == 429 && out["global"] == true {
				global++
			}
		}
		if global != 10 {
			t.Errorf("%d of 60 calls in a second were refused", global)
		}
	})
}

func TestT7_APostClearsTheIndicatorAndAnEditDoesNot(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		shows := func() bool { on, _ := c.s.World().Typing(DM, ""); return on }
		c.want("POST", "channels/"+DM+"/typing", "", 204, 0)
		<-time.After(9 * time.Second)
		if !shows() {
			t.Error("it lapsed before ten seconds")
		}
		<-time.After(time.Second)
		if shows() {
			t.Error("it shows after ten seconds")
		}
		id := c.want("POST", "channels/"+DM+"/messages", `{"content":"x"}`, 200, 0)["id"].(string)
		c.want("POST", "channels/"+DM+"/typing", "", 204, 0)
		c.want("PATCH", "channels/"+DM+"/messages/"+id, `{"content":"y"}`, 200, 0)
		if !shows() {
			t.Error("an edit cleared it")
		}
		c.want("POST", "channels/"+DM+"/messages", `{"content":"z"}`, 200, 0)
		if shows() {
			t.Error("a post did not clear it")
		}
	})
}

func TestP13_PingsAreRecorded(t *testing.T) {
	inBubble(t, Options{Unlimited: true}, func(c *client) {
		pings := func(body string) string {
			id := c.want("POST", "channels/"+General+"/messages", body, 200, 0)["id"].(string)
			m, _ := c.s.World().Message(General, id)
			return strings.Join(m.Pings, " ")
		}
		id, err := c.s.Say(sim.Say{Chat: General, Person: Cleo, Text: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		all := `<@` + Ann + `> <@&` + RoleCrew + `> @everyone`
		for body, want := range map[string]string{
			`{"content":"` + all + `"}`:                                                                                "2001 2002 everyone",
			`{"content":"` + all + `","allowed_mentions":{"parse":[]}}`:                                                "",
			`{"content":"` + all + `","allowed_mentions":{"parse":["users"]}}`:                                         "2001",
			`{"content":"` + all + `","allowed_mentions":{"users":["2001"]}}`:                                          "2001",
			`{"content":"` + "`" + all + "`" + `"}`:                                                                    "",
			`{"content":"\\<@2001> \\@everyone"}`:                                                                      "everyone",
			`{"content":"x","message_reference":{"message_id":"` + id + `"}}`:                                          Cleo,
			`{"content":"x","message_reference":{"message_id":"` + id + `"},"allowed_mentions":{}}`:                    "",
			`{"content":"x","message_reference":{"message_id":"` + id + `"},"allowed_mentions":{"replied_user":true}}`: Cleo,
		} {
			if got := pings(body); got != want {
				t.Errorf("%s pings %q, want %q", body, got, want)
			}
		}
	})
}

func TestC8_UnacknowledgedInteractionsFail(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		c.want("PUT", "applications/"+AppID+"/commands", `[]`, 200, 0)
		if err := c.s.Command(sim.CommandUse{Chat: DM, Person: Ann, Name: "stop"}); err == nil {
			t.Error("a command that is not registered was run")
		}
		id := c.want("POST", "channels/"+DM+"/messages", `{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"a"}]}]}`, 200, 0)["id"].(string)
		if err := c.s.Press(DM, Ann, id, "b"); err == nil {
			t.Error("a button that is not there was pressed")
		}
		if err := c.s.Press(DM, Ann, id, "a"); err != nil {
			t.Fatal(err)
		}
		<-time.After(4 * time.Second)
		list := c.s.World().Messages(DM, "")
		if last := list[len(list)-1]; last.Private != Ann || last.Text != unansweredInteraction {
			t.Errorf("the person sees %+v", last)
		}
		for token, in := range c.s.interactions {
			c.want("POST", "interactions/"+in.id+"/"+token+"/callback", `{"type":6}`, 404, 10062)
		}
	})
}

func TestC8_CommandsAreChecked(t *testing.T) {
	inBubble(t, Options{Unlimited: true}, func(c *client) {
		path := "applications/" + AppID + "/commands"
		for body, code := range map[string]float64{
			`[{"name":"ok","description":"d"}]`:                                       0,
			`[{"name":"Upper","description":"d"}]`:                                    50035,
			`[{"name":"none","description":""}]`:                                      50035,
			`[{"name":"x","description":"d"},{"name":"x","description":"d"}]`:         50035,
			`[{"name":"Any Case","type":3}]`:                                          0,
			`[{"name":"m","type":3,"description":"d"}]`:                               50035,
			`[{"name":"x","description":"d","description_localizations":{"xx":"d"}}]`: 50035,
			`[{"name":"x","description":"d","options":[{"type":3,"name":"a","description":"d"},{"type":3,"name":"b","description":"d","required":true}]}]`: 50035,
		} {
			status := 200
			if code != 0 {
				status = 400
			}
			c.want("PUT", path, body, status, code)
		}
		c.want("PUT", "applications/1/commands", `[]`, 403, 20012)
	})
}

func TestT11_TokensAreChecked(t *testing.T) {
	inBubble(t, Options{Token: "another"}, func(c *client) {
		c.want("GET", "users/@me", "", 401, 0)
		c.want("GET", "gateway", "", 200, 0)
	})
}

func TestC7_FilesGoThroughTheCDN(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		id, err := c.s.Say(sim.Say{Chat: DM, Person: Ann, Files: []sim.File{{Name: "a b.txt", MIME: "text/plain", Data: []byte("content")}}})
		if err != nil {
			t.Fatal(err)
		}
		_, out, _ := c.call("GET", "channels/"+DM+"/messages/"+id, "")
		file := out["attachments"].([]any)[0].(map[string]any)
		resp, err := c.http.Get(file["url"].(string))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		if string(data) != "content" || resp.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("got %q, %v", data, resp.Header)
		}
	})
}

func TestP13_LookReadsDiscordsMarkdown(t *testing.T) {
	for in, want := range map[string][2]string{
		"**b** *i* ***bi*** ~~s~~ __u__": {"b i bi s u", "<p><b>b</b> <i>i</i> <b><i>bi</i></b> <s>s</s> <u>u</u></p>"},
		"`a*b*` ``x`y``":                 {"a*b* x`y", "<p><code>a*b*</code> <code>x`y</code></p>"},
		"# Head\ntext":                   {"Head\ntext", "<h1>Head</h1><p>text</p>"},
		"-# small":                       {"small", "<p><i>small</i></p>"},
		"> q\n> r\nx":                    {"q\nr\nx", "<blockquote><p>q<br>r</p></blockquote><p>x</p>"},
		"- a\n- b":                       {"• a\n• b", "<ul><li>a</li><li>b</li></ul>"},
		"```go\nx < 1\n```":              {"x < 1", "<pre><code>x &lt; 1</code></pre>"},
		`\*no\* \<b>`:                    {"*no* <b>", "<p>*no* &lt;b&gt;</p>"},
		"[t](<https://a.example>)":       {"t", `<p><a href="https://a.example" rel="noopener noreferrer">t</a></p>`},
		"||x||":                          {"x", "<p><details><summary>spoiler</summary>x</details></p>"},
		"<script>alert(1)</script>":      {"<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"},
		"[x](javascript:alert)":          {"[x](javascript:alert)", "<p>[x](javascript:alert)</p>"},
	} {
		text, markup := Look(in)
		if text != want[0] || markup != want[1] {
			t.Errorf("%q\n got %q %q\nwant %q %q", in, text, markup, want[0], want[1])
		}
	}
}
