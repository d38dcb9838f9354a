package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder walks YAML nodes along fields and collects every problem instead of ending at the first.
type decoder struct {
	file     string
	dir      string // base of relative paths
	env      func(string) (string, bool)
	lines    map[string]int
	problems Problems
	secrets  []string
	fromEnv  map[*yaml.Node]bool // nodes whose text came from the environment: never quoted
	known    func(key string) []string
	refused  map[string]bool // keys whose value was not taken: nothing can be said of what builds on them
	lenient  bool            // unset variables outside dataDir are no problem (LoadDataDir)
}

type pair struct {
	key     string
	line    int
	keyNode *yaml.Node
	value   *yaml.Node
}

// section decodes a mapping along fields. An empty value counts as an empty mapping, so that all
// keys of a section can be commented out.
func (d *decoder) section(path string, n *yaml.Node, fields []field) {
	if !isNull(n) && n.Kind != yaml.MappingNode {
		d.refuse(n, path, "must be a section, is "+kindOf(n), "{key: value}")
		return
	}
	byKey := map[string]pair{}
	for _, e := range d.pairs(path, n) {
		byKey[e.key] = e
	}
	typ := byKey["type"].value
	for _, f := range fields { // in the order of fields: later ones may build on earlier ones
		at := join(path, f.key)
		e, there := byKey[f.key]
		delete(byKey, f.key)
		applies := f.types == nil || typ != nil && slices.Contains(f.types, typ.Value)
		switch {
		case there && !applies && typ != nil && slices.Contains(backendTypes, typ.Value):
			d.refuse(e.keyNode, at, fmt.Sprintf("is no key of a backend of type %s", typ.Value), "")
		case there && isNull(e.value) && f.sub == nil && f.entries == nil && f.template == nil:
			d.lines[at] = e.line
			d.refuse(e.keyNode, at, "has no value: give it one or take the key away", f.hint())
		case there:
			d.lines[at] = e.line
			f.decode(d, f, at, e.value)
		case f.required && applies:
			d.problem(d.lineOf(path, n), at, "is missing", f.hint())
		}
	}
	for _, key := range sortedKeys(byKey) {
		d.unknown(path, byKey[key], fields)
	}
}

// pairs are a mapping's entries, aliases resolved, duplicates and non-text keys reported.
func (d *decoder) pairs(path string, n *yaml.Node) []pair {
	first := map[string]int{}
	var found []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolve(n.Content[i]), resolve(n.Content[i+1])
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag != "!!str" && k.Tag != "!!int" && k.Tag != "!!bool" && k.Tag != "!!merge" || k.Value == "":
			d.refuse(n.Content[i], path, "a key must be plain text", "")
		case first[k.Value] != 0:
			d.refuse(n.Content[i], join(path, printable(k.Value)), fmt.Sprintf("is there twice, first in line %d", first[k.Value]), "")
		default:
			first[k.Value] = n.Content[i].Line
			found = append(found, pair{key: k.Value, line: n.Content[i].Line, keyNode: n.Content[i], value: v})
		}
	}
	return found
}

func (d *decoder) unknown(path string, e pair, fields []field) {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.key)
	}
	if e.key == "<<" {
		d.refuse(e.keyNode, join(path, e.key), "merge keys are not supported: write the keys out", "")
		return
	}
	reason := "unknown key"
	if near, ok := nearest(e.key, names); ok {
		reason += ", did you mean " + near + "?"
	} else if places := d.known(e.key); len(places) > 0 {
		reason += " here; it belongs to " + strings.Join(places, ", ")
	}
	d.refuse(e.keyNode, join(path, printable(e.key)), reason, strings.Join(names, ", "))
}

// text is a string's value with ${ENV} expanded. false: a problem was reported.
func (d *decoder) text(f field, path string, n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		d.wrongType(f, path, n, f.hint())
		return "", false
	}
	s, expanded, err := expand(n.Value, d.env)
	if errors.As(err, new(*unsetError)) && d.lenient && path != "dataDir" {
		d.refused[path] = true
		return "", false
	}
	if err != nil {
		d.refuse(n, path, err.Error(), "")
		return "", false
	}
	if expanded {
		d.fromEnv[n] = true
	}
	if f.secret && s != "" {
		d.secrets = append(d.secrets, s)
	}
	if f.required && s == "" {
		d.refuse(n, path, "is empty", f.hint())
		return "", false
	}
	return s, true
}

func (d *decoder) number(f field, path string, n *yaml.Node, limits string) (float64, bool) {
	var v float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		d.wrongType(f, path, n, limits)
		return 0, false
	}
	return v, true
}

func (d *decoder) checked(f field, path string, n *yaml.Node, value string) bool {
	if f.checkValue == nil {
		return true
	}
	if r := f.checkValue(d, path, value); r != nil {
		d.refuse(n, path, r.reason, r.allowed)
		return false
	}
	return true
}

func (d *decoder) wrongType(f field, path string, n *yaml.Node, allowed string) {
	d.refuse(n, path, "must be "+article(f.kind)+", is "+kindOf(n), allowed)
}

func (d *decoder) refuse(n *yaml.Node, path, reason, allowed string) {
	d.problem(n.Line, path, reason, allowed)
}

func (d *decoder) problem(line int, path, reason, allowed string) {
	d.refused[path] = true
	d.problems = append(d.problems, Problem{File: d.file, Line: max(line, 1), Key: path, Reason: reason, Allowed: allowed})
}

// quote is a value in an error: never a secret's, never one from the environment, and never one
// long enough to be a token in the wrong place.
func (d *decoder) quote(f field, n *yaml.Node, value string) string {
	if f.secret || d.fromEnv[n] {
		return "(not shown)"
	}
	return fmt.Sprintf("%q", printable(value))
}

// lineOf is the line of a key in the file, or of the node that stands for it.
func (d *decoder) lineOf(path string, n *yaml.Node) int {
	if line := d.lines[path]; line > 0 {
		return line
	}
	return n.Line
}

// hint says what a field allows.
func (f field) hint() string {
	if len(f.allowed) > 0 {
		return strings.Join(f.allowed, ", ")
	}
	return f.limits
}

// printable cuts what may be a token pasted into the wrong place: platform tokens and API keys
// are longer.
func printable(s string) string {
	if len(s) <= 24 {
		return s
	}
	return strings.ToValidUTF8(s[:8], "") + "…"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// resolve follows aliases; depth bounds what a hostile file can do.
func resolve(n *yaml.Node) *yaml.Node {
	for range 16 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

func kindOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a section"
	}
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	switch n.Tag {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	}
	return "something else"
}

func article(kind string) string {
	switch kind {
	case "seconds", "minutes":
		return "a number of " + kind
	case "string":
		return "text"
	case "true or false":
		return kind
	}
	return "a " + kind
}
