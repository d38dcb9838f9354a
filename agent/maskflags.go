package agent

import "strings"

// passwordFlags are options whose next word is a secret, by program. The names of long options
// are judged by SecretName.
var passwordFlags = map[string][]string{
	"sshpass": {"-p"}, "docker": {"-p"}, "podman": {"-p"}, "redis-cli": {"-a"}, "mongo": {"-p"}, "mongosh": {"-p"}, "mongodump": {"-p"},
	"zip": {"-P"}, "unzip": {"-P"}, "ldapsearch": {"-w"}, "rabbitmqadmin": {"-p"}, "az": {"-p"}, "sqlcmd": {"-P"}, "helm": {"-p"},
}

// glued are programs whose option holds the password without a space.
var glued = map[string]string{"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "7z": "-p", "7za": "-p", "rar": "-p"}

// userFlags are options of HTTP clients whose value is user:password.
var userFlags = map[string][]string{
	"curl": {"-u", "--user", "-U", "--proxy-user"}, "http": {"-a", "--auth"}, "https": {"-a", "--auth"}, "xh": {"-a", "--auth"},
}

// maskFlags masks secrets that are words of their own in a command: --password x, curl -u a:b,
// sshpass -p x, Bearer x, login a password x.
func maskFlags(s string) string {
	e := edit{src: s}
	program, subcommand, last, before := "", "", "", ""
	for i := 0; i < len(s); {
		from, to := nextWord(s, i)
		if from == to {
			break
		}
		word := s[from:to]
		bare, cut := trimQuotes(word)
		if name := strings.TrimPrefix(bare, "./"); bare != "" {
			base := name[strings.LastIndexByte(name, '/')+1:]
			if known(base) {
				program, subcommand = base, ""
			} else if program != "" && subcommand == "" && bare[0] != '-' {
				subcommand = bare
			}
		}
		switch {
		case secretFollows(program, subcommand, last, before) && bare != "" && bare[0] != '-' && !reference(bare):
			e.replace(from+cut, from+cut+len(bare), Masked)
		case scheme(last) && len(bare) >= 6 && (opaque(bare) || len(bare) >= 24) && !reference(bare):
			e.replace(from+cut, from+cut+len(bare), Masked)
		case contains(userFlags[program], last):
			maskPair(&e, from+cut, bare)
		default:
			maskGlued(&e, program, from+cut, bare)
		}
		before, last = last, bare
		if strings.HasSuffix(word, ";") || strings.HasSuffix(word, "|") || word == "&&" || word == "||" {
			program, subcommand, last = "", "", ""
		}
		i = to
	}
	return e.String()
}

func known(program string) bool {
	_, a := passwordFlags[program]
	_, b := glued[program]
	_, c := userFlags[program]
	return a || b || c
}

// secretFollows reports whether the word after last is a secret.
func secretFollows(program, subcommand, last, before string) bool {
	if len(last) < 2 {
		return false
	}
	if last[0] == '-' && !strings.ContainsAny(last, "=:") {
		name := strings.TrimLeft(last, "-")
		if SecretName(name) || strings.EqualFold(name, "pass") && last[1] == '-' {
			return true
		}
		if (program == "docker" || program == "podman" || program == "helm" || program == "az") && subcommand != "login" {
			return false // docker run -p is a port
		}
		return contains(passwordFlags[program], last)
	}
	switch before {
	case "set", "-x", "-gx", "-Ux", "-xg", "setx": // aws configure set NAME value, fish's set -x NAME value
		return SecretName(last) && !strings.ContainsAny(last, "=:") && strings.ContainsAny(last, "_")
	}
	return false
}

// maskGlued handles options that hold their secret in the same word, and netrc's style.
func maskGlued(e *edit, program string, at int, word string) {
	if p := glued[program]; p != "" && len(word) > len(p) && strings.HasPrefix(word, p) && word[:2] != "--" && !reference(word[len(p):]) {
		e.replace(at+len(p), at+len(word), Masked)
		return
	}
	for _, p := range [...]string{"pass:", "-passin=pass:"} { // openssl
		if strings.HasPrefix(word, p) && len(word) > len(p) && strings.Contains(e.src[:at], "-pass") && !reference(word[len(p):]) {
			e.replace(at+len(p), at+len(word), Masked)
			return
		}
	}
	for _, f := range userFlags[program] {
		switch {
		case strings.HasPrefix(word, f+"="):
			maskPair(e, at+len(f)+1, word[len(f)+1:])
		case len(f) == 2 && len(word) > 2 && strings.HasPrefix(word, f):
			maskPair(e, at+2, word[2:])
		}
	}
}

// maskPair masks the password of user:password.
func maskPair(e *edit, at int, pair string) {
	if bare, cut := trimQuotes(pair); bare != pair {
		at, pair = at+cut, bare
	}
	if n := strings.IndexByte(pair, ':'); n >= 0 && !strings.HasPrefix(pair[n:], "://") && !reference(pair[n+1:]) {
		e.replace(at+n+1, at+len(pair), Masked)
	}
}

func scheme(word string) bool {
	w := word[strings.LastIndexAny(word, "\"'`:=(")+1:]
	return strings.EqualFold(w, "bearer") || strings.EqualFold(w, "basic")
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// nextWord finds the next run of non-blank characters from i on; a quoted part may hold blanks.
func nextWord(s string, i int) (from, to int) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	from = i
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 && !strings.ContainsAny(s[i+1:i+1+n], " \t\n") {
			i += n + 2
		}
	}
	for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && s[i] != '\r' {
		i++
	}
	return from, i
}

// trimQuotes takes surrounding quotes and closing punctuation off; cut is how many bytes went at
// the front.
func trimQuotes(w string) (bare string, cut int) {
	bare = strings.TrimLeft(w, "\"'`(\\")
	cut = len(w) - len(bare)
	return strings.TrimRight(bare, "\"'`),;\\"), cut
}
