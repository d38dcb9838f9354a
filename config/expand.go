package config

import (
	"errors"
	"fmt"
	"strings"
)

// expand replaces ${NAME} by the environment's value; $${ stays as ${. Any other $ is itself.
func expand(s string, env func(string) (string, bool)) (result string, expanded bool, err error) {
	var b strings.Builder
	var unset []string
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		name, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return "", false, errors.New("${ without }: write $${ for a plain ${")
		}
		if !isVariable(name) {
			return "", false, errors.New("${…} must hold the name of an environment variable: write $${ for a plain ${")
		}
		value, ok := env(name)
		if !ok {
			unset = append(unset, name)
		}
		b.WriteString(value)
		s, expanded = rest, true
	}
	if len(unset) > 0 {
		return "", false, &unsetError{unset}
	}
	return b.String(), expanded, nil
}

// unsetError names environment variables that are not set.
type unsetError struct{ names []string }

func (e *unsetError) Error() string {
	if len(e.names) == 1 {
		return fmt.Sprintf("environment variable %s is not set", e.names[0])
	}
	return fmt.Sprintf("environment variables %s are not set", strings.Join(e.names, ", "))
}

func isVariable(s string) bool {
	for i, r := range s {
		switch {
		case r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		case i > 0 && r >= '0' && r <= '9':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 128
}
