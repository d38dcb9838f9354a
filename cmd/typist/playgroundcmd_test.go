package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// until calls found with what a command writes as soon as it matches.
type until struct {
	io.Writer
	all     bytes.Buffer
	pattern *regexp.Regexp
	found   func(match string)
}

func (u *until) Write(p []byte) (int, error) {
	u.all.Write(p)
	if m := u.pattern.Find(u.all.Bytes()); m != nil && u.found != nil {
		u.found(string(m))
		u.found = nil
	}
	return len(p), nil
}

func TestW1_OneCommandStartsThePlayground(t *testing.T) {
	t.Chdir(t.TempDir()) // there is no config
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var url string
	out := &until{pattern: regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?token=\S{20,}`), found: func(match string) {
		url = match
		end()
	}}
	var errs bytes.Buffer
	if code := execute(ctx, []string{"playground", "--no-open", "--listen", "127.0.0.1:0"}, streams{out: out, err: &errs}); code != exitOK {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if url == "" {
		t.Errorf("no address in %q", out.all.String())
	}
	if errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
}

func TestW1_BackendsComeFromTheConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "typist.yaml")
	if err := os.WriteFile(file, []byte("backends: {one: {type: script}, two: {type: script}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", file}, "--backend NAME"},
		{[]string{"--config", file, "--backend", "three"}, "no backend of that name"},
		{[]string{"--config", file + "x", "--backend", "one"}, "typist.yamlx"},
	} {
		var errs bytes.Buffer
		code := execute(t.Context(), append([]string{"playground", "--no-open"}, c.args...), streams{out: io.Discard, err: &errs})
		if code != exitConfig || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit %d, %q", c.args, code, errs.String())
		}
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	out := &until{pattern: regexp.MustCompile(`token=`), found: func(string) { end() }}
	var errs bytes.Buffer
	if code := execute(ctx, []string{"playground", "--no-open", "--listen", "127.0.0.1:0", "--config", file, "--backend", "two"}, streams{out: out, err: &errs}); code != exitOK {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
