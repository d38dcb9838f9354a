package config

import (
	"fmt"
	"regexp"
)

// forms are what a platform's ids look like: an entry of another form could never match anybody,
// which is refused instead of kept (C2).
type forms struct {
	people, groups      *regexp.Regexp
	peopleAre, groupAre string // for the error
}

var (
	telegramForms = forms{
		people: regexp.MustCompile(`^(\*|[0-9]+|@[A-Za-z0-9_]+)$`), peopleAre: `a user id such as "1001", "@username", "*"`,
		groups: regexp.MustCompile(`^(\*|-[0-9]+)$`), groupAre: `a group id such as "-1001234567890", "*" (not a title: anybody can give theirs the same)`,
	}
	discordForms = forms{
		people: regexp.MustCompile(`^(\*|[0-9]+|@[^\s@#:]+|role:[0-9]+)$`), peopleAre: `a user id such as "80351110224678912", "@username", "role:ID", "*"`,
		groups: regexp.MustCompile(`^(\*|[0-9]+)$`), groupAre: `a channel id such as "41771983423143937", "*" (not a name: other servers have channels of the same)`,
	}
	slackForms = forms{
		people: regexp.MustCompile(`^(\*|[UW][A-Z0-9]+)$`), peopleAre: `a member id such as "U0123ABCDEF", "*"`,
		groups: regexp.MustCompile(`^(\*|[CG][A-Z0-9]+|#.+)$`), groupAre: `a channel id such as "C0123ABCDEF", "#name", "*"`,
	}
)

func (f forms) person(_ *decoder, _, value string) *refusal {
	if f.people.MatchString(value) {
		return nil
	}
	return &refusal{"can't be a person here", f.peopleAre}
}

func (f forms) group(_ *decoder, _, key string) *refusal {
	if f.groups.MatchString(key) {
		return nil
	}
	return &refusal{fmt.Sprintf("%q can't be a group here", printable(key)), f.groupAre}
}
