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
		secret := secretFollows(program, subcommand, last, before)
		if secret || contains(userFlags[program], last) {
			if inner, end := quoted(s, from); end > 0 { // the quoted value may hold blanks
				word, bare, cut, to = s[from:end], inner, 1, end
			}
		}
		if bare != "" {
			if base := baseName(bare); known(base) {
				program, subcommand = base, ""
			} else if program != "" && subcommand == "" && bare[0] != '-' {
				subcommand = bare
			}
		}
		switch {
		case secret && bare != "" && bare[0] != '-' && !reference(bare):
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

// baseName is a program's name without its path and what stands before it without a blank.
func baseName(word string) string {
	for i := len(word); i > 0; i-- {
		if !wordByte(word[i-1]) && word[i-1] != '-' {
			return word[i:]
		}
	}
	return word
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

// scheme reports whether a word ends in the name of an authorization scheme.
func scheme(word string) bool {
	for _, name := range [...]string{"bearer", "basic"} {
		if n := len(word) - len(name); n >= 0 && strings.EqualFold(word[n:], name) {
			return n == 0 || !wordByte(word[n-1])
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// nextWord finds the next run of non-blank characters from i on. The items of a JSON list are
// words of their own.
func nextWord(s string, i int) (from, to int) {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	from = i
	for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && s[i] != '\r' {
		i++
		if s[i-1] == ',' && i-from > 1 && s[i-2] == '"' {
			break
		}
	}
	return from, i
}

// quoted reads the quoted text that begins at i; end = 0: there is none.
func quoted(s string, i int) (inner string, end int) {
	if s[i] != '"' && s[i] != '\'' {
		return "", 0
	}
	n := closing(s, i+1, s[i:i+1])
	if n == len(s) {
		return "", 0
	}
	return s[i+1 : n], n + 1
}

// trimQuotes takes surrounding quotes and closing punctuation off, and what follows a command
// inside of JSON; cut is how many bytes went at the front.
func trimQuotes(w string) (bare string, cut int) {
	bare = strings.TrimLeft(w, "\"'`(\\")
	cut = len(w) - len(bare)
	for i := 0; i+1 < len(bare); i++ {
		if bare[i] == '"' && strings.IndexByte("},]", bare[i+1]) >= 0 {
			bare = bare[:i]
		}
	}
	return strings.TrimRight(bare, "\"'`),;\\"), cut
}
