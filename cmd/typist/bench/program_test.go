package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "typist/cmd/typist/assemble" // what the program is built from: a change there makes cached results void
)

var binary string

func TestMain(m *testing.M) {
	if url := os.Getenv(libraryEnv); url != "" {
		libraryAlone(url)
		return
	}
	dir, err := os.MkdirTemp("", "typist-bench")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "typist")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "typist/cmd/typist")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pause lets real time pass: what is measured here is real time.
func pause(d time.Duration) { <-time.After(d) }

// eventually looks every 20 ms until ok holds.
func eventually(t testing.TB, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); pause(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", limit, what)
		}
	}
}

// program is a running typist.
type program struct {
	cmd     *exec.Cmd
	log     *logBuffer
	started time.Time
	address string // of /metrics
	ended   chan struct{}
	err     error // how it ended; after ended
}

// logBuffer keeps what a program writes to its log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{}
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	close(l.grew)
	l.grew = make(chan struct{})
	return len(p), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find waits for a text in the log.
func (l *logBuffer) find(ctx context.Context, re *regexp.Regexp) ([]string, error) {
	for {
		l.mu.Lock()
		found, grew := re.FindSubmatch(l.text.Bytes()), l.grew
		var out []string
		for _, f := range found {
			out = append(out, string(f))
		}
		l.mu.Unlock()
		if out != nil {
			return out, nil
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return nil, fmt.Errorf("no %s in the log", re)
		}
	}
}

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// start starts the program; it does not wait for its channels.
func start(t testing.TB, config string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(binary, "run", "--config", config), log: &logBuffer{grew: make(chan struct{})}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.started = time.Now()
	must(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.end(syscall.SIGKILL)
		if t.Failed() {
			text := p.log.String()
			t.Logf("log, its end:\n%s", text[max(0, len(text)-8000):])
		}
	})
	return p
}

// run starts the program and waits until its channels are connected.
func run(t testing.TB, config string, channels int) *program {
	t.Helper()
	p := start(t, config)
	p.ready(t, channels)
	return p
}

func (p *program) ready(t testing.TB, channels int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	found, err := p.log.find(ctx, listening)
	if err == nil {
		p.address = found[1]
		_, err = p.log.find(ctx, regexp.MustCompile(`(?s)(msg=connected.*){`+strconv.Itoa(channels)+`}`))
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, p.log)
	}
}

// end ends the program with a signal and waits for it.
func (p *program) end(s syscall.Signal) error {
	_ = p.cmd.Process.Signal(s)
	<-p.ended
	return p.err
}

// metrics scrapes /metrics: values by name, those with labels also by name and labels.
func (p *program) metrics(t testing.TB) map[string]float64 {
	t.Helper()
	m, err := p.scrape()
	must(t, err)
	return m
}

func (p *program) scrape() (_ map[string]float64, err error) {
	client := http.Client{Timeout: 20 * time.Second}
	resp, err := client.Get("http://" + p.address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	out := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 8<<20))
	for lines.Scan() {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 || lines.Text()[0] == '#' {
			continue
		}
		v, err := strconv.ParseFloat(lines.Text()[i+1:], 64)
		if err != nil {
			continue
		}
		name, labels, has := strings.Cut(lines.Text()[:i], "{")
		if has {
			out[name+"{"+labels] = v
		}
		out[name] += v
	}
	return out, lines.Err()
}

// cpu is the processor time that the program has used.
func (p *program) cpu(t testing.TB) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	must(t, err)
	system, err := strconv.Atoi(fields[12])
	must(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// rss is the program's resident memory in MB.
func (p *program) rss(t testing.TB) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return float64(kb) / 1024
}
