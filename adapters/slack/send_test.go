package slack

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

func last(t *testing.T, r *rig, chat adapters.Chat) sim.Message {
	t.Helper()
	list := r.sim.World().Messages(chat.ID, chat.Thread)
	if len(list) == 0 {
		t.Fatalf("nothing stands in %+v", chat)
	}
	return list[len(list)-1]
}

func TestC6_AnswerStaysInItsThread(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, id := r.thread()
		ref := r.send(chat, "hello **world**")
		m := last(t, r, chat)
		if m.ID != ref.ID || m.Thread != id || m.Text != "hello world" || !strings.Contains(m.HTML, "<b>world</b>") {
			t.Errorf("got %+v", m)
		}
	})
}

const everyForm = "# Title\n\nSome **bold**, *italic*, ~~struck~~, `code` and [a link](https://example.org/x).\n\n" +
	"- one\n- two\n  1. inner\n  2. second\n- three\n\n3. from three\n4. four\n\n> quoted **text**\n> - with a list\n\n```go\nfunc main() {}\n```\n\n---\n\n" +
	"after the rule\n\n| a | b |\n|---|---|\n| 1 | **2** |\n| 3 | |\n"

func TestP13_EveryForm(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.send(direct, everyForm)
		m := last(t, r, direct)
		for _, want := range []string{
			"<b>Title</b>", "<b>bold</b>", "<i>italic</i>", "<s>struck</s>", "<code>code</code>", `<a href="https://example.org/x">a link</a>`,
			"<li>one</li>", "<ol><li>inner</li>", "<blockquote>", "<pre><code>func main() {}</code></pre>", "<hr>", "<th><b>a</b></th>", "<td><b>2</b></td>",
		} {
			if !strings.Contains(m.HTML, want) {
				t.Errorf("%s is missing in %s", want, m.HTML)
			}
		}
		if !strings.Contains(m.Text, "3. from three\n4. four") {
			t.Errorf("numbers are wrong: %s", m.Text)
		}
		if strings.Contains(r.logs.String(), "plainer") {
			t.Errorf("the richest form was refused:\n%s", r.logs)
		}
	})
}

// A list goes on with the right number after what interrupts it.
func TestP13_OrderedListGoesOn(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.send(direct, "1. one\n\n   ```\n   code\n   ```\n2. two\n   - inner\n3. three")
		if got := last(t, r, direct).Text; got != "1. one\ncode\n2. two\n  • inner\n3. three" {
			t.Errorf("got %q", got)
		}
	})
}

func TestP13_NothingPings(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		text := "<!channel> <!here> <@" + simslack.Ann + "> @everyone @channel @ann <!subteam^S1>"
		ref := r.send(channel, text+"\n\n`"+text+"`\n\n> "+text+"\n\n```\n"+text+"\n```\n\n| "+text+" |\n|---|\n| "+text+" |\n")
		if err := r.a.Edit(t.Context(), ref, adapters.Post{Doc: rich.Plain(text), Buttons: [][]adapters.Button{{{Text: text, Data: "x"}}}}); err != nil {
			t.Fatal(err)
		}
		for _, m := range r.sim.World().Everything(channel.ID, "*") {
			if len(m.Pings) > 0 {
				t.Errorf("pinged %v: %s", m.Pings, m.HTML)
			}
		}
		if m := last(t, r, channel); m.Text != text {
			t.Errorf("text %q", m.Text)
		}
	})
}

// What Slack refuses as blocks is sent again plainer, until it takes it.
func TestP13_PlainSecondTry(t *testing.T) {
	for _, c := range []struct {
		refuse []string
		want   string
		button bool
	}{
		{refuse: []string{"table"}, want: "<b>bold</b>", button: true},
		{refuse: []string{"rich_text"}, want: "bold", button: true},
		{refuse: []string{"rich_text", "actions"}, want: "bold"},
		{refuse: []string{"rich_text", "section", "actions"}, want: "bold"},
	} {
		t.Run(strings.Join(c.refuse, "+"), func(t *testing.T) {
			in(t, func(t *testing.T) {
				r := newRig(t, simslack.Options{RefuseBlocks: c.refuse})
				r.run()
				post := adapters.Post{
					Doc:     rich.Parse("**bold** <!channel>\n\n| a |\n|---|\n| 1 |\n"),
					Buttons: [][]adapters.Button{{{Text: "Stop", Data: "stop:1"}}},
				}
				ref, err := r.a.Send(t.Context(), direct, post)
				if err != nil {
					t.Fatal(err)
				}
				m := last(t, r, direct)
				if !strings.Contains(m.HTML, c.want) || strings.Contains(m.HTML, "<b>") != strings.Contains(c.want, "<b>") || len(m.Pings) > 0 {
					t.Errorf("sent as %s, pings %v", m.HTML, m.Pings)
				}
				if c.button != (len(m.Buttons) == 1) {
					t.Errorf("buttons %v", m.Buttons)
				}
				if err := r.a.Edit(t.Context(), ref, post); err != nil {
					t.Errorf("editing: %v", err)
				}
				if n := len(r.sim.World().Messages(simslack.DM, "")); n != 1 {
					t.Errorf("%d messages", n)
				}
			})
		})
	}
}

// Where Slack takes no blocks at all, the whole text arrives; an edit that can't hold it says so.
func TestP13_LongTextWithoutBlocks(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{RefuseBlocks: []string{"rich_text", "section"}})
		r.run()
		text := strings.TrimSpace(strings.Repeat("a <line> of words\n", 400))
		ref := r.send(direct, "```\n"+text+"\n```")
		if m := last(t, r, direct); m.Text != text {
			t.Errorf("%d of %d bytes arrived", len(m.Text), len(text))
		}
		if err := r.a.Edit(t.Context(), ref, adapters.Post{Doc: rich.Plain(text + "!")}); !errors.Is(err, adapters.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		if err := r.a.Edit(t.Context(), ref, adapters.Post{Doc: rich.Plain("short")}); err != nil || last(t, r, direct).Text != "short" {
			t.Errorf("got %v", err)
		}
	})
}

func TestP11_EditReplacesEverything(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		ref, err := r.a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain("Working…"), Buttons: [][]adapters.Button{{{Text: "Stop", Data: "stop:1", Style: adapters.StyleDanger}}}})
		if err != nil {
			t.Fatal(err)
		}
		if m := last(t, r, direct); len(m.Buttons) != 1 || m.Buttons[0][0] != (sim.Button{Text: "Stop", Data: "stop:1", Style: "danger"}) {
			t.Errorf("buttons %+v", m.Buttons)
		}
		for range 2 { // an unchanged edit succeeds
			if err := r.a.Edit(t.Context(), ref, adapters.Post{Doc: rich.Parse("*done*")}); err != nil {
				t.Fatal(err)
			}
		}
		m := last(t, r, direct)
		if m.Text != "done" || len(m.Buttons) != 0 || m.Edits != 1 {
			t.Errorf("got %+v", m)
		}
	})
}

func TestP11_EditErrors(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{EditWindow: time.Minute})
		r.run()
		ref := r.send(direct, "one")
		theirs := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "mine"})
		edit := func(id string) error {
			return r.a.Edit(t.Context(), adapters.Ref{Chat: direct, ID: id}, adapters.Post{Doc: rich.Plain("two")})
		}
		if err := edit("1.000001"); !errors.Is(err, adapters.ErrGone) {
			t.Errorf("missing: %v", err)
		}
		if err := edit(theirs); !errors.Is(err, adapters.ErrGone) {
			t.Errorf("somebody else's: %v", err)
		}
		<-time.After(2 * time.Minute)
		if err := edit(ref.ID); !errors.Is(err, adapters.ErrTooOld) {
			t.Errorf("too old: %v", err)
		}
		if err := r.a.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if err := r.a.Delete(t.Context(), ref); err != nil {
			t.Errorf("deleting again: %v", err)
		}
		if err := edit(ref.ID); !errors.Is(err, adapters.ErrGone) {
			t.Errorf("deleted: %v", err)
		}
		if _, err := r.a.Send(t.Context(), adapters.Chat{Channel: channelName, ID: "C0NOWHERE"}, adapters.Post{Doc: rich.Plain("x")}); !errors.Is(err, adapters.ErrGone) {
			t.Errorf("no such channel: %v", err)
		}
	})
}

func TestS3_SendErrors(t *testing.T) {
	for _, c := range []struct {
		fault sim.Fault
		want  error
		posts int
	}{
		{fault: sim.Fault{Cut: sim.CutBefore}, want: adapters.ErrUnknownOutcome, posts: 0},
		{fault: sim.Fault{Cut: sim.CutAfter}, want: adapters.ErrUnknownOutcome, posts: 1},
		{fault: sim.Fault{Status: 500}, want: adapters.ErrUnknownOutcome, posts: 0},
		{fault: sim.Fault{Status: 200}, want: adapters.ErrUnknownOutcome, posts: 0},
		{fault: sim.Fault{Status: 403}, want: adapters.ErrDenied, posts: 0},
		{fault: sim.Fault{Status: 400}, want: adapters.ErrInvalid, posts: 0},
	} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{})
			r.run()
			c.fault.Op, c.fault.Times = sim.OpSend, 1
			r.sim.World().Inject(c.fault)
			since := time.Now()
			_, err := r.a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain("hello"), Key: "run1-answer"})
			if !errors.Is(err, c.want) || strings.Contains(err.Error(), "xoxb") {
				t.Errorf("%+v: got %v, want %v", c.fault, err, c.want)
			}
			if n := len(r.sim.World().Messages(simslack.DM, "")); n != c.posts {
				t.Errorf("%+v: %d messages, want %d", c.fault, n, c.posts)
			}
			ref, found, err := r.a.Find(t.Context(), direct, "run1-answer", since)
			if err != nil || found != (c.posts == 1) || found && ref.ID == "" {
				t.Errorf("%+v: find gave %+v, %t, %v", c.fault, ref, found, err)
			}
		})
	}
}

func TestS3_NeverSent(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		a, err := New(Config{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: r.sim.URL()}, Deps{
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain("x")})
		if !errors.Is(err, adapters.ErrNeverSent) || errors.Is(err, adapters.ErrUnknownOutcome) {
			t.Errorf("got %v", err)
		}
	})
}

func TestS3_FindInThreadsAndPages(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoLimits: true})
		r.run()
		chat, _ := r.thread()
		since := time.Now()
		want, err := r.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("x"), Key: "k-thread"})
		if err != nil {
			t.Fatal(err)
		}
		for range 450 {
			r.send(chat, "noise")
		}
		if ref, found, err := r.a.Find(t.Context(), chat, "k-thread", since); err != nil || !found || ref != want {
			t.Errorf("got %+v, %t, %v", ref, found, err)
		}
		late, err := r.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("x"), Key: "k-late"})
		if err != nil {
			t.Fatal(err)
		}
		if ref, found, err := r.a.Find(t.Context(), chat, "k-late", since); err != nil || !found || ref != late {
			t.Errorf("on the last page: got %+v, %t, %v", ref, found, err)
		}
		if _, found, err := r.a.Find(t.Context(), chat, "k-other", since); err != nil || found {
			t.Errorf("got %t, %v", found, err)
		}
		if _, found, err := r.a.Find(t.Context(), chat, "k-thread", time.Now().Add(time.Hour)); err != nil || found {
			t.Errorf("older than since: got %t, %v", found, err)
		}
		r.sim.World().Inject(sim.Fault{Op: sim.OpOther, Status: 503})
		if _, _, err := r.a.Find(t.Context(), chat, "k-thread", since); err == nil {
			t.Error("a failed look-up is no answer")
		}
	})
}

// Where the head of a thread was deleted, Slack posts into the channel; there it is found.
func TestS3_FindBelowADeletedHead(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, head := r.thread()
		since := time.Now()
		if err := r.sim.DeleteMessage(chat.ID, simslack.Ann, head); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if got := r.sink.all(); len(got) != 0 {
			t.Errorf("a deleted message came as %+v", got)
		}
		want, err := r.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("x"), Key: "k-1"})
		if err != nil {
			t.Fatal(err)
		}
		if ref, found, err := r.a.Find(t.Context(), chat, "k-1", since); err != nil || !found || ref != want {
			t.Errorf("got %+v, %t, %v", ref, found, err)
		}
	})
}

// slack-go decodes the whole answer of a call: blocks it does not know must not turn a message
// that stands into a failure.
func TestS3_OddAnswerIsNoFailure(t *testing.T) {
	body := []byte(`{"ok":true,"channel":"C1","ts":"1.000002","message":{"blocks":[{"type":"table","rows":[[{"type":"new"}]]}]}}`)
	if got := string(evenOut("/api/chat.postMessage", body)); strings.Contains(got, "blocks") || !strings.Contains(got, `"ts":"1.000002"`) {
		t.Errorf("got %s", got)
	}
	body = []byte(`{"ok":true,"messages":[{"ts":"1.000002","blocks":[{"type":"table","rows":[[{"type":"new"}]]}],"metadata":{"event_type":"typist_post","event_payload":{"key":"k"}}},{"ts":5}]}`)
	if got := string(evenOut("/api/conversations.history", body)); strings.Contains(got, "blocks") || !strings.Contains(got, `"key":"k"`) {
		t.Errorf("got %s", got)
	}
}

func TestP11_OwnLimitsOfTheChannel(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		var limited *adapters.RateLimitError
		for range 20 {
			if _, err := r.a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain("x")}); errors.As(err, &limited) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if limited == nil || limited.RetryAfter != time.Second || limited.Global {
			t.Fatalf("got %+v", limited)
		}
		if _, err := r.a.Send(t.Context(), channel, adapters.Post{Doc: rich.Plain("x")}); err != nil {
			t.Errorf("another channel: %v", err)
		}
		<-time.After(limited.RetryAfter)
		r.send(direct, "again")
	})
}

func TestC7_Files(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		data := []byte("name,value\na,1\n")
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "look", Files: []sim.File{{Name: "a.csv", MIME: "text/csv", Data: data}, {Name: "b.csv", MIME: "text/csv", Data: data}}})
		m := one[adapters.Message](r)
		if len(m.Files) != 2 || m.Files[0].Name != "a.csv" || m.Files[0].MIME != "text/csv" || m.Files[0].Size != int64(len(data)) || m.Text != "look" {
			t.Fatalf("got %+v", m)
		}
		got, err := r.a.Fetch(t.Context(), m.Files[0], 1000)
		if err != nil || !slices.Equal(got, data) {
			t.Errorf("fetched %q, %v", got, err)
		}
		small := m.Files[0]
		small.Size = 0 // not told beforehand
		if _, err := r.a.Fetch(t.Context(), small, 5); !errors.Is(err, errTooLarge) {
			t.Errorf("over the limit: %v", err)
		}
		byID := m.Files[0]
		byID.Source = fileID + strings.Split(strings.TrimPrefix(byID.Source, r.ln.URL()+"/files/"), "/")[0]
		if got, err := r.a.Fetch(t.Context(), byID, 1000); err != nil || !slices.Equal(got, data) {
			t.Errorf("by id: %q, %v", got, err)
		}
		outside := m.Files[0]
		outside.Source = "https://evil.example/a.csv"
		if _, err := r.a.Fetch(t.Context(), outside, 1000); err == nil {
			t.Error("the token was sent to a stranger")
		}
		chat, _ := r.thread()
		if _, err := r.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("here"), Files: []adapters.File{{Name: "out.txt", Data: []byte("result")}, {Name: "empty.txt"}}}); err != nil {
			t.Fatal(err)
		}
		posts := sim.FromBot(r.sim.World().Messages(chat.ID, chat.Thread))
		if len(posts) != 2 || len(posts[0].Files) != 1 || string(posts[0].Files[0].Data) != "result" || posts[1].Text != "here" {
			t.Errorf("got %+v", posts)
		}
	})
}

func TestC7_FileWithoutScope(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{Scopes: []string{"chat:write", "users:read"}})
		r.run()
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Files: []sim.File{{Name: "a.png", MIME: "image/png", Data: []byte{1, 2, 3}}}})
		m := one[adapters.Message](r)
		if _, err := r.a.Fetch(t.Context(), m.Files[0], 1000); !errors.Is(err, adapters.ErrDenied) || !strings.Contains(err.Error(), "files:read") {
			t.Errorf("got %v", err)
		}
	})
}

// TestS3_SharedFilesAreNotSharedAgain: the files stand when the text meets a 429; the post is sent
// again as a whole, and people see the files once.
func TestS3_SharedFilesAreNotSharedAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat := adapters.Chat{Channel: "slack", ID: simslack.DM}
		for _, key := range []string{"k1", "k2"} {
			post := adapters.Post{Key: key, Doc: rich.Plain("The answer."), Files: []adapters.File{{Name: "a.txt", MIME: "text/plain", Data: []byte("a")}}}
			r.sim.World().Inject(sim.Fault{Op: sim.OpSend, Delay: time.Millisecond, Times: 1}) // lets the files pass
			r.sim.World().Inject(sim.Fault{Op: sim.OpSend, Status: http.StatusTooManyRequests, RetryAfter: 3 * time.Second, Times: 1})
			if _, err := r.a.Send(t.Context(), chat, post); err == nil {
				t.Fatal("the fault did not hit the text")
			}
			if _, err := r.a.Send(t.Context(), chat, post); err != nil {
				t.Fatal(err)
			}
		}
		files := 0
		for _, m := range r.sim.World().Messages(simslack.DM, "*") {
			files += len(m.Files)
		}
		if files != 2 {
			t.Errorf("%d files in the chat, want one of each post", files)
		}
	})
}
