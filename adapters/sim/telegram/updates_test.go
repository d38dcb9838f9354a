package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters/sim"
)

type gotUpdate struct {
	ID            int64          `json:"update_id"`
	Message       *Message       `json:"message"`
	EditedMessage *Message       `json:"edited_message"`
	Query         *CallbackQuery `json:"callback_query"`
	Reaction      *struct{}      `json:"message_reaction"`
}

func (c *client) poll(offset int64, seconds int, more ...string) []gotUpdate {
	c.Helper()
	fields := map[string]any{"offset": offset, "timeout": seconds}
	if more != nil {
		fields["allowed_updates"] = more
	}
	r := c.call("getUpdates", fields)
	var list []gotUpdate
	if err := json.Unmarshal(r.Result, &list); err != nil {
		c.Fatalf("poll: %+v", r)
	}
	return list
}

func (c *client) say(s sim.Say) string {
	c.Helper()
	if s.Person == "" {
		s.Person = Ann
	}
	id, err := c.srv.Say(s)
	if err != nil {
		c.Fatal(err)
	}
	return id
}

func TestC4_OffsetsConfirm(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		for i := range 3 {
			c.say(sim.Say{Chat: DirectChat, Text: fmt.Sprint("m", i)})
		}
		first := c.poll(0, 0)
		if len(first) != 3 || first[1].ID != first[0].ID+1 {
			t.Fatalf("got %+v", first)
		}
		if again := c.poll(first[1].ID, 0); len(again) != 2 || again[0].Message.Text != "m1" {
			t.Errorf("got %+v", again)
		}
		if last := c.poll(-1, 0); len(last) != 1 || last[0].Message.Text != "m2" {
			t.Errorf("got %+v", last)
		}
		if got := c.poll(first[2].ID+1, 0); len(got) != 0 || len(c.srv.Unconfirmed()) != 0 {
			t.Errorf("got %+v", got)
		}
		if err := c.srv.Redeliver(2); err != nil {
			t.Fatal(err)
		}
		if got := c.poll(first[2].ID+1, 0); len(got) != 2 || got[0].ID != first[1].ID {
			t.Errorf("redelivered: %+v", got)
		}
	})
}

func TestAPollIsHeldUntilThereIsNews(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		start := time.Now()
		if got := c.poll(0, 30); len(got) != 0 || time.Since(start) != 30*time.Second {
			t.Errorf("%d updates after %s", len(got), time.Since(start))
		}
		done := make(chan []gotUpdate)
		start = time.Now()
		go func() { done <- c.poll(0, 30) }()
		<-time.After(3 * time.Second)
		c.say(sim.Say{Chat: DirectChat, Text: "news"})
		if got := <-done; len(got) != 1 || time.Since(start) != 3*time.Second {
			t.Errorf("%d updates after %s", len(got), time.Since(start))
		}
	})
}

func TestC4_ASecondPollerEndsTheFirst(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		done := make(chan reply)
		go func() { done <- c.call("getUpdates", map[string]any{"timeout": 30}) }()
		synctest.Wait()
		go func() { c.call("getUpdates", map[string]any{"timeout": 1}) }()
		if r := <-done; r.ErrorCode != 409 || !strings.Contains(r.Description, "terminated by other getUpdates request") {
			t.Errorf("got %+v", r)
		}
		<-time.After(2 * time.Second)
		c.srv.SetWebhook("https://example.com/hook")
		c.refuses("getUpdates", nil, 409, "can't use getUpdates method while webhook is active")
		told := c.call("getWebhookInfo", nil)
		if !strings.Contains(string(told.Result), `"url":"https://example.com/hook"`) {
			t.Errorf("got %s", told.Result)
		}
		c.call("deleteWebhook", nil)
		if told = c.call("getWebhookInfo", nil); !strings.Contains(string(told.Result), `"url":""`) {
			t.Errorf("got %s", told.Result)
		}
		c.poll(0, 0)
	})
}

func TestOnlyWhatIsAskedForComes(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		id := c.say(sim.Say{Chat: GroupChat, Text: "react to this"})
		last := c.poll(0, 0)[0].ID
		react := func(on bool) {
			if err := c.srv.React(GroupChat, Ben, id, "👍", on); err != nil {
				t.Fatal(err)
			}
		}
		react(true)
		if got := c.poll(last+1, 0); len(got) != 0 {
			t.Errorf("a reaction came unasked: %+v", got)
		}
		c.poll(last+1, 0, "message", "message_reaction")
		react(false)
		got := c.poll(last+1, 0)
		if len(got) != 1 || got[0].Reaction == nil {
			t.Fatalf("got %+v", got)
		}
		if err := c.srv.EditMessage(GroupChat, Ann, id, "edited"); err != nil {
			t.Fatal(err)
		}
		if got := c.poll(got[0].ID+1, 0); len(got) != 0 {
			t.Errorf("an edit came unasked: %+v", got)
		}
	})
}

func TestC1_PrivacyModeHidesWhatDoesNotConcernTheBot(t *testing.T) {
	inBubble(t, Options{Privacy: true}, func(c *client) {
		bots := c.send(GroupChat, "from the bot")
		c.say(sim.Say{Chat: GroupChat, Text: "hidden"})
		c.say(sim.Say{Chat: ForumChat, Thread: TopicOps, Text: "hidden, though it stands under the topic's head"})
		c.say(sim.Say{Chat: GroupChat, Text: "spoken to", Mention: true})
		c.say(sim.Say{Chat: GroupChat, Text: "a reply", ReplyTo: fmt.Sprint(bots)})
		c.say(sim.Say{Chat: GroupChat, Text: "/stop"})
		c.say(sim.Say{Chat: DirectChat, Text: "private"})
		var texts []string
		for _, u := range c.poll(0, 0) {
			texts = append(texts, u.Message.Text)
		}
		if got := strings.Join(texts, "|"); got != "@typist_bot spoken to|a reply|/stop|private" {
			t.Errorf("the bot sees %s", got)
		}
	})
}

func TestC6_TopicsCarryTheirHead(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		c.say(sim.Say{Chat: ForumChat, Thread: TopicPlans, Text: "in a topic"})
		c.say(sim.Say{Chat: ForumChat, Text: "in General"})
		id := c.say(sim.Say{Chat: GroupChat, Text: "first"})
		c.say(sim.Say{Chat: GroupChat, Text: "a reply", ReplyTo: id})
		got := c.poll(0, 0)
		topic, general, reply := got[0].Message, got[1].Message, got[3].Message
		if !topic.IsTopicMessage || fmt.Sprint(topic.MessageThreadID) != TopicPlans || topic.ReplyToMessage == nil ||
			topic.ReplyToMessage.ForumTopicCreated == nil || topic.ReplyToMessage.MessageID != topic.MessageThreadID {
			t.Errorf("in a topic: %+v", topic)
		}
		if general.IsTopicMessage || general.MessageThreadID != 0 || general.ReplyToMessage != nil || !general.Chat.IsForum {
			t.Errorf("in General: %+v", general)
		}
		if reply.IsTopicMessage || reply.MessageThreadID == 0 || reply.ReplyToMessage.Text != "first" {
			t.Errorf("a reply: %+v", reply)
		}
	})
}

func TestC3_AlbumsAndPastesComeInParts(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		c.say(sim.Say{Chat: DirectChat, Text: "two", Files: []sim.File{{Name: "a.txt", Data: []byte("a")}, {Name: "b.txt", Data: []byte("b")}}})
		c.say(sim.Say{Chat: DirectChat, Text: strings.Repeat("🙂", 5000), Parts: 3})
		got := c.poll(0, 0)
		if len(got) != 5 || got[0].Message.MediaGroupID == "" || got[0].Message.MediaGroupID != got[1].Message.MediaGroupID ||
			got[0].Message.Caption != "two" || got[1].Message.Caption != "" {
			t.Fatalf("got %d updates: %+v", len(got), got)
		}
		for i, want := range []int{4096, 4096, 10000 - 2*4096} {
			if n := utf16Len(got[2+i].Message.Text); n != want {
				t.Errorf("part %d has %d units, want %d", i, n, want)
			}
		}
	})
}

func TestPressesNeedTheButtonAndAnAnswer(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		markup := map[string]any{"inline_keyboard": [][]map[string]any{{{"text": "Stop", "callback_data": "s"}}}}
		c.call("sendMessage", map[string]any{"chat_id": DirectChat, "text": "x", "reply_markup": markup})
		if err := c.srv.Press(DirectChat, Ann, "1", "nothing"); err == nil {
			t.Error("a button that is not there was pressed")
		}
		if err := c.srv.Press(DirectChat, Ann, "1", "s"); err != nil {
			t.Fatal(err)
		}
		q := c.poll(0, 0)[0].Query
		if q == nil || q.Data != "s" || q.Message.MessageID != 1 || len(c.srv.Unanswered()) != 1 {
			t.Fatalf("got %+v", q)
		}
		if r := c.call("answerCallbackQuery", map[string]any{"callback_query_id": q.ID}); !r.OK || len(c.srv.Unanswered()) != 0 {
			t.Errorf("got %+v", r)
		}
		c.refuses("answerCallbackQuery", map[string]any{"callback_query_id": q.ID}, 400, "query is too old")
	})
}
