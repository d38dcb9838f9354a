package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// FileName is the name of the file that Find looks for.
const FileName = "typist.yaml"

// Find is the file to load where none is named: typist.yaml in the working directory, else
// typist/typist.yaml in the user's config directory. fs.ErrNotExist where there is neither.
func Find() (string, error) {
	places := []string{FileName}
	if dir, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(dir, "typist", FileName))
	}
	for _, place := range places {
		if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
			return place, nil
		}
	}
	return "", &missingError{places}
}

// missingError: there is no config file where one is looked for.
type missingError struct{ places []string }

func (e *missingError) Error() string {
	return "there is no config file: looked for " + strings.Join(e.places, " and ") + "; write one, or name one with --config FILE"
}
func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// Load reads a file. env looks up environment variables (os.LookupEnv). What is wrong with the
// file comes back as Problems, all at once.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env)
}

// LoadDataDir reads a file for its dataDir alone: for commands that only have to find the process
// that runs, in a shell that need not know the tokens. Environment variables may be unset, except
// in dataDir itself; every other problem is one as for Load.
func LoadDataDir(path string, env func(string) (string, bool)) (string, error) {
	data, err := read(path)
	if err != nil {
		return "", err
	}
	c, err := parse(path, data, env, true)
	if err != nil {
		return "", err
	}
	return c.DataDir, nil
}

func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingError{[]string{path}}
	case err != nil:
		return nil, fmt.Errorf("config: %w", err)
	}
	return data, nil
}

// Parse reads a file's content. path is what errors name and what relative paths start from.
func Parse(path string, data []byte, env func(string) (string, bool)) (*Config, error) {
	return parse(path, data, env, false)
}

func parse(path string, data []byte, env func(string) (string, bool), lenient bool) (*Config, error) {
	c := defaults()
	c.File = path
	d := &decoder{file: path, dir: filepath.Dir(path), env: env, lines: c.lines, fromEnv: map[*yaml.Node]bool{}, known: placesOf,
		refused: map[string]bool{}, lenient: lenient}
	if root := d.root(data); root != nil {
		d.section("", root, c.fields())
		d.paths(c)
		d.crossCheck(c)
	}
	c.secrets = d.secrets
	if err := d.problems.sorted(); err != nil {
		return nil, err
	}
	return c, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// root is the one document of the file; nil where there is a problem.
func (d *decoder) root(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return &yaml.Node{}
	}
	if err == nil {
		switch next := dec.Decode(&more); {
		case next == nil:
			d.problem(more.Line, "", "is a second document; a config file is one", "")
			return nil
		case !errors.Is(next, io.EOF):
			err = next
		}
	}
	if err != nil {
		reason, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
		if m := yamlLine.FindStringSubmatch(reason); m != nil {
			line, _ = strconv.Atoi(m[1])
			reason = strings.Replace(reason, m[0], "", 1)
		}
		d.problem(line, "", "is not YAML: "+reason, "")
		return nil
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{}
	}
	return resolve(doc.Content[0])
}

// paths makes paths absolute: what the file says is relative to the file.
func (d *decoder) paths(c *Config) {
	if c.DataDir == "" {
		dir, err := stateDir(d.env)
		if err != nil {
			d.problem(d.lines["dataDir"], "dataDir", err.Error(), "")
			return
		}
		c.DataDir = dir
	}
	d.absolute("dataDir", &c.DataDir)
	for name, b := range c.Backends {
		d.absolute("backends."+name+".file", &b.File)
		d.absolute("backends."+name+".record", &b.Record)
		d.absolute("backends."+name+".cwd", &b.Cwd)
		c.Backends[name] = b
	}
	d.absolute("agents.defaults.heartbeat.checklist", &c.Agents.Defaults.Heartbeat.Checklist)
	for id, a := range c.Agents.List {
		d.absolute("agents.list."+id+".heartbeat.checklist", &a.Heartbeat.Checklist)
		c.Agents.List[id] = a
	}
}

func (d *decoder) absolute(key string, p *string) {
	if *p == "" || filepath.IsAbs(*p) {
		return
	}
	abs, err := filepath.Abs(filepath.Join(d.dir, *p))
	if err != nil {
		d.problem(d.lines[key], key, err.Error(), "")
		return
	}
	*p = abs
}

// stateDir is where programs keep what must survive: $XDG_STATE_HOME, else ~/.local/state
// (%LocalAppData% on Windows).
func stateDir(env func(string) (string, bool)) (string, error) {
	if dir, ok := env("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "typist"), nil
	}
	if runtime.GOOS == "windows" {
		if dir, ok := env("LocalAppData"); ok && dir != "" {
			return filepath.Join(dir, "typist"), nil
		}
	}
	home, ok := env("HOME")
	if !ok || home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", errors.New("must be set, since this user has no home directory")
		}
	}
	return filepath.Join(home, ".local", "state", "typist"), nil
}
