package playground_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"typist/cmd/typist/playground"
)

// api is a page's way to the server.
type api struct {
	t      *testing.T
	client *http.Client
	base   string
}

func newAPI(t *testing.T, p *playground.Playground) *api {
	client, base := visitor(t, p)
	return &api{t, client, base}
}

// post does something and returns the status and the answer.
func (a *api) post(path string, body any) (int, map[string]any) {
	a.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	r, _ := http.NewRequest("POST", a.base+"/api/"+path, bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", a.base)
	answer, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		a.t.Fatalf("%s: %v", path, err)
	}
	return answer.StatusCode, out
}

// must does something that has to work.
func (a *api) must(path string, body any) map[string]any {
	a.t.Helper()
	status, out := a.post(path, body)
	if status != http.StatusOK {
		a.t.Fatalf("%s: %d %v", path, status, out)
	}
	return out
}

type object = map[string]any

// message is one server-sent event.
type message struct{ event, id, data string }

// stream reads server-sent events until f says that it has seen enough.
func (a *api) stream(query url.Values, lastID string, f func(message) bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", a.base+"/api/stream?"+query.Encode(), nil)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := a.client.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		a.t.Fatalf("stream: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 4<<20)
	var m message
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			m.event = value
		case "id":
			m.id = value
		case "data":
			m.data = value
		case "":
			if f(m) {
				return
			}
			m = message{}
		}
	}
	a.t.Fatalf("the stream ended: %v", lines.Err())
}

func decode[T any](t *testing.T, data string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		t.Fatalf("%.200s: %v", data, err)
	}
	return out
}

type worldData struct {
	Items []struct {
		Key, Kind string
		Data      json.RawMessage
	}
}

type runData struct {
	Chat  string
	Lines []struct {
		Seq   int64
		RunID string
		Event json.RawMessage
	}
}

const direct = "telegram/1001"

// follow collects a chat's run events until the run ends, and says where it stopped.
func (a *api) follow(after int64, lastID string, until string) (seqs []int64, id string) {
	a.t.Helper()
	a.stream(url.Values{"chat": {direct}, "after": {fmt.Sprint(after)}}, lastID, func(m message) bool {
		id = m.id
		if m.event != "run" {
			return false
		}
		found := false
		for _, l := range decode[runData](a.t, m.data).Lines { // the id stands for all of them
			seqs = append(seqs, l.Seq)
			found = found || strings.Contains(string(l.Event), until)
		}
		return found
	})
	return seqs, id
}

func TestW3_TheStreamGoesOnWhereAPageWas(t *testing.T) {
	a := newAPI(t, start(t, stage))
	a.must("say", object{"platform": "telegram", "chat": "1001", "text": "work"})
	first, id := a.follow(0, "", `"TOOL_CALL_START"`)
	rest, _ := a.follow(0, id, `"RUN_FINISHED"`)
	all, _ := a.follow(0, "", `"RUN_FINISHED"`)
	// The consumer's rule: what it has seen is dropped (S6).
	got := first
	for _, seq := range rest {
		if seq > got[len(got)-1] {
			got = append(got, seq)
		}
	}
	for i, seq := range got {
		if seq != int64(i+1) {
			t.Fatalf("event %d has number %d: %v", i, seq, got)
		}
	}
	if len(got) != len(all) {
		t.Errorf("%d events over two connections, %d over one", len(got), len(all))
	}
	if rest[0] <= first[0] {
		t.Errorf("the second connection began again: %v after %v", rest, first)
	}
}

func TestW3_TheWorldComesOnce(t *testing.T) {
	a := newAPI(t, start(t, stage))
	a.must("say", object{"platform": "telegram", "chat": "1001", "text": "quick"})
	seen := map[string]bool{}
	var id string
	a.stream(nil, "", func(m message) bool {
		id = m.id
		if m.event != "world" {
			return false
		}
		for _, it := range decode[worldData](t, m.data).Items {
			seen[it.Kind] = true
			if it.Kind == "message" && strings.Contains(string(it.Data), "the answer") {
				return true
			}
		}
		return false
	})
	for _, kind := range []string{"chat", "message", "show", "call", "faults", "bot"} {
		if !seen[kind] {
			t.Errorf("no item of kind %q", kind)
		}
	}
	a.must("say", object{"platform": "discord", "chat": "2101", "text": "silent"})
	a.stream(nil, id, func(m message) bool {
		for _, it := range decode[worldData](t, m.data).Items {
			if it.Kind == "chat" || strings.Contains(string(it.Data), `"text":"quick"`) {
				t.Errorf("%s came again", it.Key)
			}
			if strings.Contains(string(it.Data), `"text":"silent"`) {
				return true
			}
		}
		return false
	})
}

func TestO6_TheInspectorsEventsAreAtTheirOwnPathToo(t *testing.T) {
	a := newAPI(t, start(t, stage))
	a.must("say", object{"platform": "telegram", "chat": "1001", "text": "quick"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", a.base+"/v1/chats/"+url.PathEscape(direct)+"/events", nil)
	answer, err := a.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), "RUN_FINISHED") {
			return
		}
	}
	t.Error("the run did not end in the stream")
}

func TestW4_KnobsAreChecked(t *testing.T) {
	a := newAPI(t, start(t, stage))
	for _, good := range []object{
		{"typingMode": "message"}, {"typingMode": ""}, {"typingSeconds": 4.5}, {"typingSeconds": 0}, {"view": "detail"}, {"language": "ja"}, {"queue": "collect"}, {"reasoning": "off"}, {},
	} {
		a.must("settings", good)
	}
	for _, bad := range []object{
		{"typingMode": "sometimes"}, {"typingSeconds": 0.5}, {"typingSeconds": -1}, {"view": "all"}, {"language": "xx"}, {"queue": "lifo"}, {"reasoning": "loud"}, {"dataDir": "/"},
	} {
		if status, answer := a.post("settings", bad); status != http.StatusBadRequest || answer["error"] == "" {
			t.Errorf("%v: %d %v", bad, status, answer)
		}
	}
	for path, bad := range map[string]object{
		"say": {"platform": "irc", "text": "x"}, "edit": {"platform": "telegram", "chat": "1001", "message": "77", "text": "x"}, "press": {"platform": "slack", "chat": "D0ANN", "message": "1", "data": "x"},
		"command": {"platform": "discord", "chat": "2101", "name": "nothing"}, "fault": {"platform": "none"}, "mend": {"platform": "none"}, "disconnect": {"platform": "none"}, "heartbeat": {"platform": "telegram", "chat": "0"},
	} {
		if status, answer := a.post(path, bad); status < 400 || answer["error"] == "" {
			t.Errorf("%s %v: %d %v", path, bad, status, answer)
		}
	}
	if status, _ := a.post("say", object{"platform": "telegram", "chat": "1001", "text": strings.Repeat("x", 9<<20)}); status != http.StatusBadRequest {
		t.Errorf("nine megabytes: %d", status)
	}
}

func TestW4_AKilledBotReachesNothing(t *testing.T) {
	p := start(t, stage)
	a := newAPI(t, p)
	world := p.World("telegram")
	a.must("say", object{"platform": "telegram", "chat": "1001", "text": "long"})
	shows := func(text string) func() bool {
		return func() bool {
			list := world.Messages("1001", "")
			return strings.Contains(list[len(list)-1].Text, text)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := world.Wait(ctx, "the tool", shows("Wait for the tide")); err != nil {
		t.Fatal(err)
	}
	a.must("kill", object{"seconds": 600})
	_, before := world.CallsAfter(0)
	p.Buried()
	if calls, _ := world.CallsAfter(before); len(calls) > 0 {
		t.Errorf("calls of a dead bot: %v", calls)
	}
	if !shows("Wait for the tide")() {
		t.Error("the dead bot has edited its message")
	}
}

func TestW4_ABotThatIsDownSaysSo(t *testing.T) {
	a := newAPI(t, start(t, stage))
	a.must("kill", object{"seconds": 600})
	for _, path := range []string{"heartbeat", "kill", "break"} {
		body := object{"platform": "telegram", "chat": "1001"}
		if path != "heartbeat" {
			body = object{}
		}
		if status, answer := a.post(path, body); status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer["error"]), "down") {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
	a.must("settings", object{"view": "overview"}) // it will start with it
	began := time.Now()
	a.stream(nil, "", func(m message) bool { return strings.Contains(m.data, `"up":false`) })
	if took := time.Since(began); took > patience/2 {
		t.Errorf("the page heard of it after %s", took)
	}
}
