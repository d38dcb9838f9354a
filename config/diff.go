package config

import (
	"reflect"
	"slices"
)

// Diff names the keys that differ between two loaded files: those that a running process can
// take over, and those that need a restart (O5). Both are sorted.
func Diff(before, after *Config) (reloadable, needRestart []string) {
	d := differ{before: before, after: after}
	d.fields("", before.fields(), after.fields(), false)
	slices.Sort(d.live)
	slices.Sort(d.restart)
	return slices.Compact(d.live), slices.Compact(d.restart)
}

type differ struct {
	before, after *Config
	live, restart []string
}

func (d *differ) fields(path string, before, after []field, live bool) {
	for _, a := range after {
		at := join(path, a.key)
		i := slices.IndexFunc(before, func(f field) bool { return f.key == a.key })
		if i >= 0 {
			d.field(at, before[i], a, live || a.live)
		}
	}
}

func (d *differ) field(at string, before, after field, live bool) {
	switch {
	case after.entries != nil:
		was, is := before.entries(), after.entries()
		for name, fields := range is {
			if old, ok := was[name]; ok {
				d.fields(join(at, name), old, fields, live)
				continue
			}
			d.add(join(at, name), live || after.growing)
			// What a new entry has that no reload can give it.
			own := differ{before: d.before, after: d.after}
			own.fields(join(at, name), after.template(), fields, live)
			if after.growing {
				d.restart = append(d.restart, own.restart...)
			}
		}
		for name := range was {
			if _, ok := is[name]; !ok {
				d.add(join(at, name), live || after.growing)
			}
		}
	case after.sub != nil:
		was, is := before.sub(), after.sub()
		if (was == nil) != (is == nil) {
			d.add(at, live)
			return
		}
		d.fields(at, was, is, live)
	case d.written(at) && !reflect.DeepEqual(before.value(), after.value()):
		d.add(at, live)
	}
}

// written says whether either file has the key: what an agent takes from agents.defaults is
// named there, not at each agent. (Paths from the environment have no key either.)
func (d *differ) written(at string) bool {
	return d.before.lines[at] > 0 || d.after.lines[at] > 0 || at == "dataDir"
}

func (d *differ) add(at string, live bool) {
	if live {
		d.live = append(d.live, at)
	} else {
		d.restart = append(d.restart, at)
	}
}
