package script

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed demos/*.txt
var demoFiles embed.FS

// Info tells about one demonstration.
type Info struct {
	Name  string // file name without its number and ending
	Title string
	About string // one line
	Try   string // what to write to see it
}

// Demos lists the demonstrations that ship with the program, in the order to try them.
func Demos() ([]Info, error) {
	files, err := demoScripts()
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, f := range files {
		out = append(out, f.info)
	}
	return out, nil
}

// Demo is the demonstration agent: it plays the demonstration whose keywords it finds in what the
// person wrote. "help" lists them.
func Demo() (*Script, error) {
	files, err := demoScripts()
	if err != nil {
		return nil, err
	}
	help := []string{`on "^\W*(/?help|hilfe|demos?)\W*$":`, "pace 5ms", "say: I am a scripted agent: I only play prepared pieces. Write one of these:", "|"}
	all := &Script{Title: "Demonstrations"}
	for _, f := range files {
		help = append(help, fmt.Sprintf("| - **%s**: %s", f.info.Try, f.info.About))
		all.sections = append(all.sections, f.script.sections...)
	}
	last, err := Parse("help", strings.Join(append(help, "otherwise:", "think 1s: This matches none of my pieces, so I answer in general.",
		"say: You wrote: “{{input}}”. I am a scripted agent. Write `help` to see what I can play."), "\n"))
	if err != nil {
		return nil, err
	}
	all.sections = append(last.sections[:1:1], append(all.sections, last.sections[1:]...)...)
	return all, nil
}

type demoFile struct {
	info   Info
	script *Script
}

func demoScripts() ([]demoFile, error) {
	names, err := fs.Glob(demoFiles, "demos/*.txt")
	if err != nil {
		return nil, err
	}
	var out []demoFile
	for _, path := range names {
		text, err := demoFiles.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := Parse(path, string(text))
		if err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(path, ".txt"), "-")
		out = append(out, demoFile{Info{Name: name, Title: s.Title, About: s.About, Try: s.Try}, s})
	}
	return out, nil
}
