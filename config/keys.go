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
		if f.hidden {
			continue
		}
		at, isLive := join(path, f.key), live || f.live
		if f.entryKey != "" {
			at = join(at, f.entryKey)
		}
		if f.sub == nil && f.template == nil || f.doc != "" {
			*keys = append(*keys, Key{Path: at, Type: f.kind, Default: f.def, Doc: f.doc, Allowed: strings.Join(f.allowed, ", "), Reloadable: isLive || f.growing, Required: f.required})
		}
		if f.same == "" {
			collect(at, f.all(), isLive, keys)
		}
	}
}

// Markdown is the table of all keys for the README. A key that is the same in every channel
// stands once, as channels.*.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | type | default | what it does |\n|---|---|---|---|\n")
	seen := map[Key]int{}
	shared := func(k Key) Key {
		for _, name := range channelNames {
			k.Path = strings.Replace(k.Path, "channels."+name+".", "channels.*.", 1)
		}
		return k
	}
	keys := Keys()
	for _, k := range keys {
		seen[shared(k)]++
	}
	done := map[Key]bool{}
	for _, k := range keys {
		if common := shared(k); seen[common] == len(channelNames) {
			if done[common] {
				continue
			}
			done[common], k = true, common
		}
		k.row(&b)
	}
	return b.String()
}

func (k Key) row(b *strings.Builder) {
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
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Path, k.Type, def, strings.ReplaceAll(doc, "|", `\|`))
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
