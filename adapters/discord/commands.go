package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"typist/adapters"
)

// command is an application command as far as it is compared and registered here.
type command struct {
	Type                     int               `json:"type"`
	Name                     string            `json:"name"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations,omitempty"`
	Options                  []commandOption   `json:"options,omitempty"`
}

type commandOption struct {
	Type        int             `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Required    bool            `json:"required,omitempty"`
	Choices     []commandChoice `json:"choices,omitempty"`
}

type commandChoice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const (
	slashCommand   = 1
	messageCommand = 3
	optionString   = 3
	maxChoices     = 25
	maxDescription = 100
)

// SetCommands registers slash commands, and message context commands for those with OnMessage.
// What stands there already is not written again: Discord counts creations per day.
func (a *Adapter) SetCommands(ctx context.Context, specs []adapters.CommandSpec) error {
	app, err := a.application(ctx)
	if err != nil {
		return err
	}
	want := []command{}
	for _, spec := range specs {
		want = append(want, slash(spec))
		if spec.OnMessage {
			want = append(want, command{Type: messageCommand, Name: title(spec.Name)})
		}
	}
	path := "applications/" + app + "/commands"
	var have []command
	if err := a.call(ctx, http.MethodGet, path+"?with_localizations=true", nil, &have); err != nil {
		return err
	}
	if sameCommands(have, want) {
		return nil
	}
	if lost := missing(have, want); len(lost) > 0 {
		a.log.Warn("commands of this bot that are not typist's are removed; if another program needs them, give this one a bot of its own",
			"commands", strings.Join(lost, ", "))
	}
	return a.call(ctx, http.MethodPut, path, want, nil)
}

// missing names what stands there and would not any more.
func missing(have, want []command) (names []string) {
	for _, c := range have {
		if !slices.ContainsFunc(want, func(w command) bool { return w.Type == c.Type && w.Name == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return names
}

func sameCommands(have, want []command) bool {
	if len(have) != len(want) {
		return false
	}
	byName := map[string]string{}
	key := func(c command) string { return string(rune('0'+c.Type)) + c.Name }
	for _, c := range have {
		text, _ := json.Marshal(c)
		byName[key(c)] = string(text)
	}
	for _, c := range want {
		text, _ := json.Marshal(c)
		if byName[key(c)] != string(text) {
			return false
		}
	}
	return true
}

func title(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return strings.ToUpper(string(r)) + name[n:]
}

// discordLocales are Discord's names for the languages of the table; English is the default.
var discordLocales = map[string][]string{"de": {"de"}, "ja": {"ja"}, "zh": {"zh-CN"}}

func slash(spec adapters.CommandSpec) command {
	c := command{Type: slashCommand, Name: strings.ToLower(spec.Name), Description: describe(spec.Description["en"], spec.Name)}
	for lang, names := range discordLocales {
		if text := spec.Description[lang]; text != "" {
			for _, name := range names {
				if c.DescriptionLocalizations == nil {
					c.DescriptionLocalizations = map[string]string{}
				}
				c.DescriptionLocalizations[name] = describe(text, spec.Name)
			}
		}
	}
	c.Options = options(spec)
	return c
}

func describe(text, otherwise string) string {
	if text == "" {
		text = otherwise
	}
	if r := []rune(text); len(r) > maxDescription {
		text = string(r[:maxDescription-1]) + "…"
	}
	return text
}

var notInName = regexp.MustCompile(`[^-_a-z0-9]+`)

// options makes one text option of each word of a usage such as "[mode|default] [seconds]".
func options(spec adapters.CommandSpec) []commandOption {
	var required, optional []commandOption
	used := map[string]bool{}
	for i, word := range strings.Fields(spec.Args) {
		name, _, _ := strings.Cut(strings.Trim(word, "[]<>…."), "|")
		name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
		if name == "" {
			name = "text"
		}
		if r := []rune(name); len(r) > 32 {
			name = string(r[:32])
		}
		if used[name] {
			continue
		}
		used[name] = true
		o := commandOption{Type: optionString, Name: name, Description: describe(word, name), Required: strings.HasPrefix(word, "<")}
		if i == 0 && len(spec.Choices) <= maxChoices {
			for _, choice := range spec.Choices {
				o.Choices = append(o.Choices, commandChoice{Name: choice, Value: choice})
			}
		}
		if o.Required {
			required = append(required, o)
		} else {
			optional = append(optional, o)
		}
	}
	return append(required, optional...)
}
