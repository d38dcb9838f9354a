package bench

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/slack"
)

// soakTime is how long the soak runs: go test ./cmd/typist/bench -run Soak -soak 30m -timeout 40m.
var soakTime = flag.Duration("soak", time.Minute, "how long the soak runs")

// soakSeed repeats a soak's choices, as far as real time lets it.
var soakSeed = flag.Uint64("soakseed", 0, "seed of the soak; 0 = a new one")

// TestSoak runs random traffic over all three platforms with every kind of trouble, reloads and
// restarts. No answer is lost or doubled, no indicator shows beside an answer, nothing grows, no
// panic and no secret is in the log.
func TestSoak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	s := &soak{counts: map[string]int{}}
	tg, dc, sl := towns(t, slack.Options{RetryScale: 0.05}) // what nobody took comes again after 3 s, not a minute
	platforms := []sim.Platform{tg, dc, sl}
	var talks []*talk
	for i, p := range platforms {
		for j, c := range chatsOf(p) {
			c.soak, c.platform, c.rng = s, p, rand.New(rand.NewPCG(seed, uint64(100*i+j)))
			talks = append(talks, c)
		}
	}
	h := &host{t: t, soak: s, dir: t.TempDir(), platforms: platforms}
	h.start()

	ctx, stop := context.WithTimeout(t.Context(), *soakTime)
	defer stop()
	var people, rest sync.WaitGroup
	for _, c := range talks {
		people.Go(func() { c.run(ctx) })
	}
	for i, p := range platforms {
		rest.Go(func() { trouble(ctx, s, p, rand.New(rand.NewPCG(seed, uint64(1000+i)))) })
	}
	h.operate(ctx, rand.New(rand.NewPCG(seed, 2000)))
	rest.Wait()
	people.Wait()

	h.checkRest(len(talks))
	h.checkLog()
	if err := h.program.end(syscall.SIGTERM); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	t.Logf("%v", s.counts)
	for _, problem := range s.problems {
		t.Error(problem)
	}
	if s.counts["answers"] < 10 {
		t.Errorf("only %d answers", s.counts["answers"])
	}
}

// chatsOf adds direct chats to those of a platform and returns all of them with one who talks there.
func chatsOf(p sim.Platform) []*talk {
	world := p.World()
	var out []*talk
	for i := range 3 {
		id, chat := fmt.Sprintf("77%d", i), fmt.Sprintf("77%d", i)
		if p.Name() == "slack" {
			id, chat = fmt.Sprintf("U0SOAK%d", i), fmt.Sprintf("D0SOAK%d", i)
		}
		world.AddPerson(sim.Person{ID: id, Name: "Soaker " + id, Username: "soaker" + id})
		if d, ok := p.(interface{ AddDirect(id, person string) }); ok {
			chat = "88" + id
			d.AddDirect(chat, id)
		} else {
			world.AddChat(sim.Chat{ID: chat, Name: "Soaker " + id, Direct: true, Members: []string{id}})
		}
		out = append(out, &talk{chat: chat, person: id, direct: true})
	}
	for _, c := range world.Chats() {
		if !c.Direct && len(c.Members) > 2 && (len(c.Threads) == 0 || p.Name() != "telegram") {
			for _, m := range c.Members {
				if m != world.Bot().ID {
					return append(out, &talk{chat: c.ID, person: m})
				}
			}
		}
	}
	return out
}

// host operates the program during a soak: reloads, restarts, and looks at its resources.
type host struct {
	t         *testing.T
	soak      *soak
	dir       string
	platforms []sim.Platform
	program   *program
	logs      []string
	samples   []sample // of the last life
}

type sample struct {
	at         time.Time
	goroutines float64
	heap       float64 // MB, least of a stretch: what the collector leaves
}

func (h *host) configure(more string) string {
	return configure(h.t, h.dir, soakScript, "progress: {delaySeconds: 0.3, notifyAfterSeconds: 4}\n"+more, h.platforms...)
}

func (h *host) start() { h.program = run(h.t, h.configure(""), 3) }

// operate reloads all the time and restarts in the first half of the time; the second half is one
// life, so that growth would show.
func (h *host) operate(ctx context.Context, rng *rand.Rand) {
	began := time.Now()
	restarts := max(1, min(8, int(*soakTime/(40*time.Second))))
	next := 1
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(1500+rng.IntN(1500)) * time.Millisecond):
		}
		half := *soakTime / 2
		switch {
		case next <= restarts && time.Since(began) > half*time.Duration(next)/time.Duration(restarts+1):
			next++
			h.restart()
		default:
			h.reload(rng)
		}
		if time.Since(began) > half {
			h.sample()
		}
	}
}

// restart ends the program as an operator would and starts it again.
func (h *host) restart() {
	h.soak.count("restarts")
	stop := time.Now()
	if err := h.program.end(syscall.SIGTERM); err != nil {
		h.soak.problem("the program ended with %v", err)
	}
	if took := time.Since(stop); took > 10*time.Second {
		h.soak.problem("the shutdown took %v", took)
	}
	h.logs = append(h.logs, h.program.log.String())
	h.start()
}

// reload changes what can change, or writes a file that is wrong; that one must change nothing.
func (h *host) reload(rng *rand.Rand) {
	h.soak.count("reloads")
	h.configure([]string{
		"session: {typingIntervalSeconds: 4}", "session: {typingMode: message}", "session: {typingMode: instant, onEdit: ignore}",
		"agents: {defaults: {reasoningLevel: 'on'}}", "agents: {defaults: {reasoningLevel: loud}}", "session: {",
	}[rng.IntN(6)])
	_ = h.program.cmd.Process.Signal(syscall.SIGHUP)
	pause(200 * time.Millisecond)
	h.configure("") // a restart needs a right one
}

func (h *host) sample() {
	one := sample{at: time.Now()}
	for range 3 {
		m, err := h.program.scrape()
		if err != nil {
			h.soak.problem("metrics: %v", err)
			return
		}
		one.goroutines = m["go_goroutines"]
		if heap := m["go_memstats_heap_alloc_bytes"] / (1 << 20); one.heap == 0 || heap < one.heap {
			one.heap = heap
		}
		pause(100 * time.Millisecond)
	}
	h.samples = append(h.samples, one)
}

// checkRest looks at what is left when everyone has gone: nothing that says it works, and no more
// goroutines and memory than at the beginning of this life.
func (h *host) checkRest(chats int) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		var left []string
		for _, p := range h.platforms {
			for _, c := range p.World().Chats() {
				for _, m := range sim.FromBot(p.World().Messages(c.ID, "*")) {
					if hasButton(m, "Stop") || strings.Contains(m.Text, "Working…") {
						left = append(left, fmt.Sprintf("%s/%s: %q", p.Name(), c.ID, m.Text))
					}
				}
			}
		}
		// On Telegram a post whose outcome is unknown counts as sent, and nothing can be done about
		// it any more (S3): that many messages may stay.
		if len(left) <= strings.Count(h.log(), "the outcome of a post is unknown") {
			break
		}
		if time.Now().After(deadline) {
			h.soak.problem("left behind: %v", left)
			break
		}
		pause(200 * time.Millisecond)
	}
	m := h.program.metrics(h.t)
	h.t.Logf("at the end: %.0f runs active, %.0f goroutines, heap %.1f MB, %.1f MB resident", m["typist_runs_active"], m["go_goroutines"], m["go_memstats_heap_alloc_bytes"]/(1<<20), h.program.rss(h.t))
	if m["typist_runs_active"] != 0 || m["typist_indicators_active"] != 0 {
		h.soak.problem("%v runs and %v indicators are active", m["typist_runs_active"], m["typist_indicators_active"])
	}
	if most := float64(100 + 10*chats); m["go_goroutines"] > most {
		h.soak.problem("%v goroutines for %d chats", m["go_goroutines"], chats)
	}
	h.checkGrowth()
}

// checkGrowth compares the first and the last third of the samples.
func (h *host) checkGrowth() {
	third := len(h.samples) / 3
	if third == 0 {
		h.soak.problem("no samples")
		return
	}
	mean := func(list []sample) (goroutines, heap float64) {
		for _, s := range list {
			goroutines, heap = goroutines+s.goroutines, heap+s.heap
		}
		return goroutines / float64(len(list)), heap / float64(len(list))
	}
	g1, m1 := mean(h.samples[:third])
	g2, m2 := mean(h.samples[len(h.samples)-third:])
	h.t.Logf("within the last life: %.0f → %.0f goroutines, heap %.1f → %.1f MB", g1, g2, m1, m2)
	if g2 > 1.5*g1+40 {
		h.soak.problem("goroutines grew from %.0f to %.0f", g1, g2)
	}
	if m2 > 1.5*m1+8 {
		h.soak.problem("the heap grew from %.1f to %.1f MB", m1, m2)
	}
}

// A person's words and traces of a panic in a log.
var (
	messageText = regexp.MustCompile(`(?m)^.*\bq\d+q\b.*$`)
	panicTrace  = regexp.MustCompile(`(?m)^(panic: |fatal error: |goroutine \d+ \[).*$|^.*panic=.*$`)
)

// log is what all the lives of the program have logged.
func (h *host) log() string {
	return strings.Join(append(h.logs[:len(h.logs):len(h.logs)], h.program.log.String()), "\n")
}

// checkLog scans all logs for secrets, for what people wrote, and for panics.
func (h *host) checkLog() {
	log := h.log()
	for _, p := range h.platforms {
		for key, secret := range p.Credentials() {
			_, half, _ := strings.Cut(secret, ":")
			for _, s := range []string{secret, half} {
				if len(s) > 6 && strings.Contains(log, s) {
					h.soak.problem("the log holds %s of %s", key, p.Name())
				}
			}
		}
	}
	for what, re := range map[string]*regexp.Regexp{"a message's text": messageText, "a panic": panicTrace} {
		if line := re.FindString(log); line != "" {
			h.soak.problem("the log holds %s: %s", what, line)
		}
	}
	if file := os.Getenv("TYPIST_SOAK_LOG"); file != "" {
		must(h.t, os.WriteFile(file, []byte(log), 0o600))
	}
	lines := map[string]int{}
	for line := range strings.SplitSeq(log, "\n") {
		if _, rest, ok := strings.Cut(line, "level=ERROR msg="); ok {
			text, _, _ := strings.Cut(rest+`" `, `" `)
			lines[text]++
		}
	}
	h.t.Logf("errors in the log: %v", lines)
}
