package agent

import "strings"

// secretTails are names' last words that mean a secret; a name may end in one without a joint
// ("PGPASSWORD").
var secretTails = []string{"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "secretkey", "accesskey",
	"privatekey", "authkey", "sessid", "credential"}

// secretWords are names that mean a secret only as a whole last word.
var secretWords = set("pwd jwt otp authorization cookie bearer signature sig psk pat")

// secretPairs are last two words of a name that mean a secret.
var secretPairs = set("api-key access-key private-key secret-key auth-key encryption-key signing-key master-key account-key " +
	"shared-key service-key license-key ssh-key deploy-key subscription-key session-key app-key bot-key client-key " +
	"db-pass database-pass smtp-pass mysql-pass mail-pass user-pass admin-pass redis-pass root-pass auth-pass " +
	"token-value secret-value secret-string secret-text password-hash private-token")

// harmless come before "token" in names of tokens that are no secrets: of pages and of language
// models.
var harmless = set("page next prev previous continuation sync cursor eos bos pad unk sep cls mask stop start special end silent " +
	"max min first last per input output new")

// SecretName reports whether a variable, header, option or JSON key of that name holds a secret.
func SecretName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	if last == "" || len(last) == 1 && last[0] == 'v' { // TOKEN_2, KEY_V2
		if len(words) == 1 {
			return false
		}
		words = words[:len(words)-1]
		last = words[len(words)-1]
	}
	before := ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	if last == "token" && harmless[before] {
		return false
	}
	for _, t := range secretTails {
		if strings.HasSuffix(last, t) {
			return true
		}
	}
	return secretWords[last] || before != "" && secretPairs[before+"-"+last]
}

// nameWords splits a name at its joints and where its case changes, in lower case. Only the last
// three words matter.
func nameWords(name string) []string {
	var words []string
	from := 0
	flush := func(to int) {
		if to > from {
			words = append(words, strings.ToLower(name[from:to]))
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !letter(c) && !digit(c):
			flush(i)
			from = i + 1
		case i > from && upper(c) && (!upper(name[i-1]) || i+1 < len(name) && letter(name[i+1]) && !upper(name[i+1])):
			flush(i)
			from = i
		}
	}
	flush(len(name))
	return words
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

func nameByte(c byte) bool { return wordByte(c) || c == '-' || c == '.' }

// maskNamed masks the value in NAME=value, name: value, "name": "value" and their kin.
func maskNamed(s string) string {
	e := edit{src: s}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '=' && c != ':' || i < e.done {
			continue
		}
		if c == ':' && (i+1 < len(s) && s[i+1] == ':' || i > 0 && s[i-1] == ':' || strings.HasPrefix(s[i:], "://")) {
			continue
		}
		name, open := nameBefore(s, i)
		if name == "" || !SecretName(name) && !(strings.HasSuffix(name, "_auth") || c == '=' && strings.EqualFold(name, "pass")) {
			continue
		}
		from, arrow := i+1, false
		if c == ':' && from < len(s) && s[from] == '=' || c == '=' && from < len(s) && (s[from] == '=' || s[from] == '>') {
			arrow = s[from] == '>'
			from++
		}
		maskValue(&e, name, skipBlank(s, from), open, arrow)
	}
	return e.String()
}

// nameBefore reads the name that ends before the separator at i, and the quote that opens right
// before the name while not closing right after it ('NAME=value').
func nameBefore(s string, i int) (name string, open byte) {
	to := i
	for to > 0 && s[to-1] == ' ' && i-to < 3 {
		to--
	}
	closed := false
	if to > 0 && (s[to-1] == '"' || s[to-1] == '\'' || s[to-1] == '`') {
		closed = true
		to--
		if to > 0 && s[to-1] == '\\' {
			to--
		}
	}
	if to > 1 && s[to-1] == ']' { // os.environ["TOKEN"] = …
		to--
		if s[to-1] == '"' || s[to-1] == '\'' {
			to--
		}
	}
	from := to
	for from > 0 && nameByte(s[from-1]) && to-from < 80 {
		from--
	}
	if !closed && from > 0 && (s[from-1] == '"' || s[from-1] == '\'') {
		open = s[from-1]
	}
	return s[from:to], open
}

func skipBlank(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// maskValue masks the value that begins at from. open is a quote that surrounds name and value;
// arrow says that only a quoted value is one (token => token.id is code).
func maskValue(e *edit, name string, from int, open byte, arrow bool) {
	s := e.src
	if from >= len(s) {
		return
	}
	quote := ""
	switch c := s[from]; {
	case c == '"' || c == '\'' || c == '`':
		quote = s[from : from+1]
	case c == '\\' && from+1 < len(s) && (s[from+1] == '"' || s[from+1] == '\''):
		quote = s[from : from+2]
	}
	header := strings.HasSuffix(strings.ToLower(name), "authorization")
	whole := header || strings.HasSuffix(strings.ToLower(name), "cookie")
	var end int
	switch {
	case quote != "":
		from += len(quote)
		end = closing(s, from, quote)
	case arrow:
		return
	case open != 0 && s[from-1] != '\n':
		end = from
		for end < len(s) && s[end] != open && s[end] != '\n' && (whole || s[end] != '&' && s[end] != '\\') {
			end++
		}
	default:
		end = unquoted(s, from, whole)
	}
	if header {
		from = afterScheme(s, from, end)
		if quote == "" && open == 0 {
			end = max(from, unquoted(s, from, false))
		}
	}
	if v := s[from:end]; !reference(v) && !small(name, v) {
		e.replace(from, end, Masked)
	}
}

// small reports a short number, which is a count and no secret, except as a password.
func small(name, v string) bool {
	low := strings.ToLower(name)
	return len(v) <= 3 && strings.Trim(v, "0123456789") == "" && !strings.Contains(low, "pass") && !strings.Contains(low, "pwd") && !strings.Contains(low, "otp")
}

// closing is where the quoted value that begins at i ends; a missing quote ends it with the text.
func closing(s string, i int, quote string) int {
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i
		case s[i] == '\\' && i+1 < len(s):
			i = lastRune(s, i+1)
		default:
			i++
		}
	}
	return len(s)
}

// unquoted is where a bare value ends. A header's value goes on to the end of its line.
func unquoted(s string, i int, line bool) int {
	stop := " \t\r\n\"'`&;,|<>)}]\\"
	if line {
		stop = "\r\n\"'`|<>"
	}
	if i < len(s) && (s[i] == '<' || s[i] == '{' || s[i] == '[') { // a placeholder
		return lastRune(s, i)
	}
	for i < len(s) && strings.IndexByte(stop, s[i]) < 0 {
		if s[i] == '$' && i+1 < len(s) && s[i+1] == '{' {
			if n := strings.IndexByte(s[i:], '}'); n > 0 {
				i += n
			}
		}
		i++
	}
	return i
}

var schemes = set("bearer basic token digest bot apikey negotiate aws4-hmac-sha256 key")

// afterScheme steps over the scheme of an Authorization header.
func afterScheme(s string, from, end int) int {
	v := s[from:end]
	if n := strings.IndexByte(v, ' '); n > 0 && schemes[strings.ToLower(v[:n])] {
		return min(end, skipBlank(s, from+n))
	}
	return from
}
