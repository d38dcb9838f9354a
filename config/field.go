package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// field is one key of the file, bound to the variable that it fills. Key table, JSON Schema,
// suggestions, decoder and Diff all read the same list of fields.
type field struct {
	key     string
	doc     string
	kind    string   // type for people: "string", "seconds", …
	def     string   // default for people; "" = none worth naming
	allowed []string // closed set of values
	limits  string   // what is allowed, where it is no closed set

	required bool
	live     bool // a reload changes it without a restart (O5)
	secret   bool // its value is shown nowhere
	hidden   bool // it stands in no documentation: a key that is refused, with the reason
	filled   bool // a list that may not be empty
	growing  bool // a map whose entries come and go without a restart; what is in them says for itself
	types    []string

	checkValue func(d *decoder, at string, value string) *refusal
	decode     func(d *decoder, f field, path string, n *yaml.Node)
	value      func() any // the bound value, for Diff

	sub      func() []field               // a section's own fields
	entries  func() map[string][]field    // a map's entries, bound to copies
	template func() []field               // a map's fields for any entry
	entryKey string                       // a map's placeholder for documentation: NAME, ID, CHAT
	same     string                       // a map whose entries are documented under another key
	schema   func(f field) map[string]any // JSON Schema of the value
}

// refusal says why a value is not taken.
type refusal struct{ reason, allowed string }

func (f field) shown(def string) field     { f.def = def; return f }
func (f field) asLive() field              { f.live = true; return f }
func (f field) masked() field              { f.secret = true; return f }
func (f field) asHidden() field            { f.hidden = true; return f }
func (f field) asGrowing() field           { f.growing = true; return f }
func (f field) nonEmpty() field            { f.filled = true; return f }
func (f field) must() field                { f.required = true; f.def = ""; return f }
func (f field) only(types ...string) field { f.types = types; return f }
func (f field) sameAs(key string) field    { f.same = key; return f }
func (f field) check(fn func(d *decoder, at, value string) *refusal) field {
	f.checkValue = fn
	return f
}

func text(key string, p *string, doc string) field {
	return field{
		key: key, doc: doc, kind: "string", def: code(*p), value: func() any { return *p },
		schema: func(field) map[string]any { return map[string]any{"type": "string"} },
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if s, ok := d.text(f, path, n); ok && d.checked(f, path, n, s) {
				*p = s
			}
		},
	}
}

func enum(key string, p *string, allowed []string, doc string) field {
	return field{
		key: key, doc: doc, kind: "string", def: code(*p), allowed: allowed, value: func() any { return *p },
		schema: func(f field) map[string]any {
			return map[string]any{"anyOf": []any{map[string]any{"enum": f.allowed}, map[string]any{"type": "string", "pattern": `\$\{`}}}
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			s, ok := d.text(f, path, n)
			switch {
			case !ok || !d.checked(f, path, n, s):
			case slices.Contains(allowed, s):
				*p = s
			default:
				reason := fmt.Sprintf("unknown value %s", d.quote(f, n, s))
				if near, ok := nearest(s, allowed); ok {
					reason += fmt.Sprintf(", did you mean %s?", near)
				}
				d.refuse(n, path, reason, strings.Join(allowed, ", "))
			}
		},
	}
}

func boolean(key string, p *bool, doc string) field {
	return field{
		key: key, doc: doc, kind: "true or false", def: code(strconv.FormatBool(*p)), value: func() any { return *p },
		schema: func(field) map[string]any { return map[string]any{"type": "boolean"} },
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
				d.wrongType(f, path, n, "true, false")
				return
			}
			*p = strings.EqualFold(n.Value, "true")
		},
	}
}

// number decodes a number from least up, in units of unit.
func number(key, kind string, p *time.Duration, unit time.Duration, least float64, doc string) field {
	limits := fmt.Sprintf("a number of %s, %v or more", kind, least)
	const most = 1e8 // keeps every unit within a Duration
	return field{
		key: key, doc: doc, kind: kind, limits: limits, def: code(strconv.FormatFloat(float64(*p)/float64(unit), 'g', -1, 64)),
		value: func() any { return *p },
		schema: func(field) map[string]any {
			return map[string]any{"type": "number", "minimum": least, "maximum": most}
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			v, ok := d.number(f, path, n, limits)
			switch {
			case !ok:
			case v < least:
				d.refuse(n, path, fmt.Sprintf("%s is too small", n.Value), limits)
			case v > most:
				d.refuse(n, path, fmt.Sprintf("%s is too large", n.Value), limits)
			default:
				*p = time.Duration(v * float64(unit))
			}
		},
	}
}

func seconds(key string, p *time.Duration, least float64, doc string) field {
	return number(key, "seconds", p, time.Second, least, doc)
}

func minutes(key string, p *time.Duration, doc string) field {
	return number(key, "minutes", p, time.Minute, 0, doc)
}

func integer(key string, p *int, least int, doc string) field {
	limits := fmt.Sprintf("a whole number, %d or more", least)
	const most = 1e9
	return field{
		key: key, doc: doc, kind: "whole number", limits: limits, def: code(strconv.Itoa(*p)), value: func() any { return *p },
		schema: func(field) map[string]any {
			return map[string]any{"type": "integer", "minimum": least, "maximum": most}
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			v, ok := d.number(f, path, n, limits)
			switch {
			case !ok:
			case v < float64(least) || v > most || v != float64(int(v)):
				d.refuse(n, path, fmt.Sprintf("%s is not allowed", n.Value), limits)
			default:
				*p = int(v)
			}
		},
	}
}

// duration decodes "30m"; 0 means off.
func duration(key string, p *time.Duration, least time.Duration, doc string) field {
	limits := fmt.Sprintf("0, or a duration of %s or more such as 30m, 1h30m", strings.TrimSuffix(least.String(), "0s"))
	return field{
		key: key, doc: doc, kind: "duration", limits: limits, def: code(strings.TrimSuffix(p.String(), "s")), value: func() any { return *p },
		schema: func(field) map[string]any {
			return map[string]any{"anyOf": []any{
				map[string]any{"const": 0},
				map[string]any{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$|\$\{`},
			}}
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if n.Kind == yaml.ScalarNode && n.Tag == "!!int" && n.Value == "0" {
				*p = 0
				return
			}
			if n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float") {
				d.refuse(n, path, fmt.Sprintf("%s has no unit", n.Value), limits)
				return
			}
			s, ok := d.text(f, path, n)
			if !ok {
				return
			}
			v, err := time.ParseDuration(s)
			if err != nil || v != 0 && v < least {
				d.refuse(n, path, fmt.Sprintf("%s is not allowed", d.quote(f, n, s)), limits)
				return
			}
			*p = v
		},
	}
}

func list(key string, p *[]string, doc string) field {
	return listOf(key, "list of strings", p, false, doc)
}

// ids takes whole numbers too, since that is how many people write a platform's ids.
func ids(key string, p *[]string, doc string) field { return listOf(key, "list of ids", p, true, doc) }

func listOf(key, kind string, p *[]string, numbers bool, doc string) field {
	return field{
		key: key, doc: doc, kind: kind, def: code(strings.Join(*p, ", ")), value: func() any { return *p },
		schema: func(f field) map[string]any {
			item := map[string]any{"type": "string", "minLength": 1}
			if numbers {
				item = map[string]any{"anyOf": []any{item, map[string]any{"type": "integer"}}}
			}
			array := map[string]any{"type": "array", "items": item}
			if f.filled {
				array["minItems"] = 1
			}
			return array
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				d.wrongType(f, path, n, "[a, b]")
				return
			}
			if f.filled && len(n.Content) == 0 {
				d.refuse(n, path, "is empty: name somebody, or take the key away for "+f.def, "")
				return
			}
			found := make([]string, 0, len(n.Content))
			for i, item := range n.Content {
				at := fmt.Sprintf("%s[%d]", path, i)
				item = resolve(item)
				if numbers && item.Kind == yaml.ScalarNode && item.Tag == "!!int" {
					if strings.Trim(item.Value, "0123456789") != "" && strings.Trim(item.Value[1:], "0123456789") != "" {
						d.refuse(item, at, "put this id in quotes", "")
						continue
					}
					if d.checked(f, at, item, item.Value) {
						found = append(found, item.Value)
					}
					continue
				}
				s, ok := d.text(f, at, item)
				if ok && strings.TrimSpace(s) == "" {
					d.refuse(item, at, "is empty", "")
				} else if ok && d.checked(f, at, item, s) {
					found = append(found, s)
				}
			}
			*p = found
		},
	}
}

// texts decodes a map of strings: headers, environments. Their values are secrets where the name
// says so or the environment has them: a title or a path is none.
func texts(key string, p *map[string]string, doc string) field {
	return field{
		key: key, doc: doc, kind: "map of strings", value: func() any { return *p },
		schema: func(field) map[string]any {
			return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if n.Kind != yaml.MappingNode {
				d.wrongType(f, path, n, "{NAME: text}")
				return
			}
			found := make(map[string]string, len(n.Content)/2)
			for _, e := range d.pairs(path, n) {
				own := f
				own.secret = f.secret && namesSecret(e.key)
				s, ok := d.text(own, path+"."+e.key, e.value)
				if !ok {
					continue
				}
				found[e.key] = s
				if f.secret && !own.secret && d.fromEnv[e.value] {
					d.secrets = append(d.secrets, s)
				}
			}
			*p = found
		},
	}
}

func namesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "passw", "credential"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

func section(key, doc string, fields func() []field) field {
	return field{
		key: key, doc: doc, kind: "section", sub: fields,
		decode: func(d *decoder, f field, path string, n *yaml.Node) { d.section(path, n, fields()) },
	}
}

// optional is a section that is nil where the file has none.
func optional[T any](key string, p **T, fresh func() *T, fields func(*T) []field) field {
	return field{
		key: key, kind: "section", template: func() []field { return fields(fresh()) },
		sub: func() []field {
			if *p == nil {
				return nil
			}
			return fields(*p)
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			*p = fresh()
			d.section(path, n, fields(*p))
		},
	}
}

// mapOf is a map from names that people choose to sections.
func mapOf[T any](key, entryKey string, p *map[string]T, doc string, fresh func() T, fields func(*T) []field) field {
	return field{
		key: key, doc: doc, kind: "map", entryKey: entryKey,
		template: func() []field { v := fresh(); return fields(&v) },
		entries: func() map[string][]field {
			all := make(map[string][]field, len(*p))
			for name, v := range *p {
				all[name] = fields(&v)
			}
			return all
		},
		decode: func(d *decoder, f field, path string, n *yaml.Node) {
			if isNull(n) {
				return
			}
			if n.Kind != yaml.MappingNode {
				d.wrongType(f, path, n, "{"+entryKey+": {…}}")
				return
			}
			found := make(map[string]T, len(n.Content)/2)
			for _, e := range d.pairs(path, n) {
				at := path + "." + e.key
				d.lines[at] = e.line
				if entryKey != "CHAT" && !isName(e.key) {
					d.refuse(e.keyNode, path, "a name may not look like this", "letters, digits, - and _, at most 64")
					continue
				}
				if f.checkValue != nil {
					if r := f.checkValue(d, path, e.key); r != nil {
						d.refuse(e.keyNode, path, r.reason, r.allowed)
						continue
					}
				}
				v := fresh()
				d.section(at, e.value, fields(&v))
				found[e.key] = v
			}
			*p = found
		},
	}
}

// all are the fields of a section or map for documentation: those of any entry.
func (f field) all() []field {
	if f.template != nil {
		return f.template()
	}
	if f.sub != nil {
		return f.sub()
	}
	return nil
}

// code is a default as the key table shows it.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func isName(s string) bool {
	return s != "" && len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
