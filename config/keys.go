package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Key describes one key of the file, for documentation.
type Key struct {
	Path       string // NAME, ID and CHAT stand for names that people choose
	Type       string
	Default    string // Markdown; "" = none
	Doc        string // Markdown
	Allowed    string
	Reloadable bool // O5
	Required   bool
}

// Keys are all keys of the file, in the order of documentation.
func Keys() []Key {
	var keys []Key
	collect("", defaults().fields(), false, &keys)
	return keys
}

func collect(path string, fields []field, live bool, keys *[]Key) {
	for _, f := range fields {
		at, isLive := join(path, f.key), live || f.live
		if f.entryKey != "" {
			at = join(at, f.entryKey)
		}
		if f.sub == nil && f.template == nil || f.doc != "" {
			*keys = append(*keys, Key{Path: at, Type: f.kind, Default: f.def, Doc: f.doc, Allowed: f.hint(), Reloadable: isLive, Required: f.required})
		}
		if f.same == "" {
			collect(at, f.all(), isLive, keys)
		}
	}
}

// Markdown is the table of all keys for the README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | type | default | what it does |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		doc := k.Doc
		if k.Allowed != "" {
			doc += " Allowed: " + k.Allowed + "."
		}
		if k.Reloadable {
			doc += " ↻"
		}
		def := k.Default
		if k.Required {
			def = "*required*"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.Type, def, strings.ReplaceAll(doc, "|", `\|`))
	}
	return b.String()
}

var keyPlaces = sync.OnceValue(func() map[string][]string {
	places := map[string][]string{}
	for _, k := range Keys() {
		i := strings.LastIndexByte(k.Path, '.')
		key, parent := k.Path[i+1:], k.Path[:max(i, 0)]
		if parent != "" && !slices.Contains(places[key], parent) {
			places[key] = append(places[key], parent)
		}
	}
	return places
})

// placesOf are the sections that know a key, for the error about one in the wrong place.
func placesOf(key string) []string {
	places := keyPlaces()[key]
	return places[:min(len(places), 4)]
}
