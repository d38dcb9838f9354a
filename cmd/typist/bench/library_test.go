package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters/sim"
	"typist/adapters/sim/telegram"
)

// libraryEnv makes the test's binary a bot that is nothing but the client library.
const libraryEnv = "TYPIST_BENCH_LIBRARY"

// libraryAlone tells when an update reaches its handler, and answers with the indicator at once.
func libraryAlone(url string) {
	out := bufio.NewWriter(os.Stdout)
	b, err := bot.New(telegram.DefaultToken, bot.WithServerURL(url), bot.WithNotAsyncHandlers(),
		bot.WithDefaultHandler(func(ctx context.Context, b *bot.Bot, u *models.Update) {
			fmt.Fprintln(out, time.Now().UnixNano())
			_, _ = b.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: u.Message.Chat.ID, Action: models.ChatActionTyping})
			_ = out.Flush()
		}))
	if err != nil {
		panic(err)
	}
	b.Start(context.Background())
}

// latencies are times from the moment at which the miniature platform hands an update over.
type latencies struct {
	delivery []time.Duration // until the library's handler has it; only of the library alone
	pulse    []time.Duration // until sendChatAction arrives
}

// firstPulses has each person write once, when all is quiet, and measures.
func firstPulses(t testing.TB, w *town, quiet func(person string) bool) (out []time.Duration, handed []time.Time) {
	t.Helper()
	world := w.World()
	for _, person := range w.people {
		polls := len(world.Calls(sim.OpReceive))
		w.say(t, person, "hello")
		eventually(t, "the indicator", 10*time.Second, func() bool { return len(world.Timeline(person, "")) > 0 && quiet(person) })
		receives := world.Calls(sim.OpReceive)
		if len(receives) <= polls {
			t.Fatalf("no poll was answered: %d", len(receives))
		}
		poll := receives[polls]
		at := poll.At.Add(poll.Took)
		for _, c := range world.Calls(sim.OpPulse) {
			if c.Chat == person {
				out, handed = append(out, c.At.Sub(at)), append(handed, at)
				break
			}
		}
	}
	return out, handed
}

// measureLibrary measures what the client library takes by itself, in a process of its own.
func measureLibrary(t testing.TB, people int) latencies {
	t.Helper()
	w := newTown(t, people, telegram.Limits{})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), libraryEnv+"="+w.URL())
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	polling(t, w)
	var l latencies
	var handed []time.Time
	l.pulse, handed = firstPulses(t, w, func(string) bool { return true })
	lines := bufio.NewScanner(stdout)
	lines.Scan() // the warming up
	for i := 0; i < len(handed) && lines.Scan(); i++ {
		nano, err := strconv.ParseInt(lines.Text(), 10, 64)
		must(t, err)
		l.delivery = append(l.delivery, time.Unix(0, nano).Sub(handed[i]))
	}
	return l
}

// polling waits until the bot polls, so that no first message waits for a start.
func polling(t testing.TB, w *town) {
	t.Helper()
	eventually(t, "the first call", 10*time.Second, func() bool { return len(w.World().Calls(sim.OpOther)) > 0 })
	w.say(t, w.people[0], "warm up")
	eventually(t, "the first pulse", 10*time.Second, func() bool { return len(w.World().Calls(sim.OpPulse)) > 0 })
	w.people = w.people[1:]
}
