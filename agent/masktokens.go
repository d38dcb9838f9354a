package agent

import "strings"

// tokenShape is a token that its issuer gave a prefix to. min is how many characters of the
// class follow at least.
type tokenShape struct {
	prefix string
	min    int
	mixed  bool // only with a digit among them: the prefix also begins ordinary words
	extra  string
}

// The prefixes are published by their issuers so that secrets can be found.
var tokenShapes = byFirst([]tokenShape{
	{"sk-", 16, true, "-_"}, {"sk_live_", 8, false, ""}, {"sk_test_", 8, false, ""}, {"rk_live_", 8, false, ""}, {"rk_test_", 8, false, ""},
	{"whsec_", 16, false, "+/="}, {"gsk_", 20, true, ""}, {"xai-", 20, true, "-_"}, {"pplx-", 20, true, ""}, {"hf_", 20, false, ""}, {"r8_", 20, true, ""},
	{"xoxb-", 8, false, "-"}, {"xoxp-", 8, false, "-"}, {"xoxa-", 8, false, "-"}, {"xoxr-", 8, false, "-"}, {"xoxs-", 8, false, "-"}, {"xoxc-", 8, false, "-"},
	{"xoxd-", 8, false, "-%+/="}, {"xoxe-", 8, false, "-"}, {"xoxe.", 8, false, "-"}, {"xapp-", 8, true, "-"},
	{"ghp_", 16, false, ""}, {"gho_", 16, false, ""}, {"ghu_", 16, false, ""}, {"ghs_", 16, false, ""}, {"ghr_", 16, false, ""}, {"github_pat_", 16, false, "_"},
	{"glpat-", 16, false, "-_"}, {"gldt-", 16, false, "-_"}, {"glrt-", 16, false, "-_"}, {"glcbt-", 16, false, "-_"}, {"glptt-", 16, false, "-_"}, {"glsoat-", 16, false, "-_"},
	{"npm_", 30, true, ""}, {"pypi-AgE", 16, false, "-_"}, {"dop_v1_", 32, false, ""}, {"doo_v1_", 32, false, ""}, {"dckr_pat_", 16, false, "-_"},
	{"AIza", 30, false, "-_"}, {"ya29.", 16, false, "-_."}, {"GOCSPX-", 16, false, "-_"}, {"SG.", 32, true, "-_."}, {"key-", 32, true, ""},
	{"shpat_", 32, false, ""}, {"shpca_", 32, false, ""}, {"shppa_", 32, false, ""}, {"shpss_", 32, false, ""}, {"lin_api_", 16, false, ""}, {"ntn_", 24, true, ""},
	{"dapi", 32, true, ""}, {"hvs.", 20, false, "-_"}, {"hvb.", 20, false, "-_"}, {"dp.pt.", 16, false, ""}, {"dp.st.", 16, false, "-_."}, {"ATATT3x", 20, false, "-_="},
	{"sntrys_", 16, false, "-_+/="}, {"sbp_", 32, true, ""}, {"sq0atp-", 16, false, "-_"}, {"sq0csp-", 16, false, "-_"}, {"tskey-", 12, false, "-"},
	{"pscale_tkn_", 16, false, "-_."}, {"AGE-SECRET-KEY-1", 20, false, ""}, {"EAACEdEose0cBA", 8, false, ""}, {"FlyV1", 20, false, "-_ ,=+/"}, {"fo1_", 20, true, "-_"},
	{"rnd_", 24, true, ""}, {"nfp_", 24, true, ""}, {"vercel_", 20, true, ""}, {"PMAK-", 24, true, "-"}, {"NRAK-", 20, true, ""}, {"figd_", 20, false, "-_"}, {"patAT", 30, true, "."},
})

func byFirst(list []tokenShape) (m [256][]tokenShape) {
	for _, t := range list {
		m[t.prefix[0]] = append(m[t.prefix[0]], t)
	}
	return m
}

// maskTokens masks tokens that are known by their shape alone.
func maskTokens(s string, growing bool) string {
	e := edit{src: s}
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			i++
			continue
		}
		end, keep := tokenAt(s, i, growing)
		if end == 0 && strings.HasPrefix(s[i:], "bot") { // a Telegram token in a request's path
			if n, _ := telegramToken(s, i+3, growing); n > 0 {
				end, keep = n, 3
			}
		}
		if end > 0 {
			e.replace(i+keep, end, Masked)
			i = end
			continue
		}
		i = wordEnd(s, i)
		for i+1 < len(s) && s[i] == '-' && wordByte(s[i+1]) { // no token begins inside "task-sk-…"
			i = wordEnd(s, i+1)
		}
	}
	return maskWebhooks(e.String())
}

func wordEnd(s string, i int) int {
	for i < len(s) && wordByte(s[i]) {
		i++
	}
	return i
}

const probeBytes = 200

// tokenAt finds the token that begins at i: its end (0 = none) and how many bytes of it stay.
func tokenAt(s string, i int, growing bool) (end, keep int) {
	for _, t := range tokenShapes[s[i]] {
		if !strings.HasPrefix(s[i:], t.prefix) {
			continue
		}
		from := i + len(t.prefix)
		// Whether it is one shows within its first characters: a look further for each candidate
		// would cost quadratic time.
		probe := span(s[:min(len(s), from+probeBytes)], from, t.extra)
		atEnd := growing && len(s)-from <= probeBytes
		if !atEnd && (probe-from < t.min || t.mixed && !strings.ContainsAny(s[from:probe], "0123456789")) {
			continue
		}
		end := span(s, from, t.extra)
		if growing && end == len(s) && end > from {
			return end, 0
		}
		if end-from >= t.min && (!t.mixed || strings.ContainsAny(s[from:end], "0123456789")) {
			return end, 0
		}
	}
	switch c := s[i]; {
	case c == 'e' && strings.HasPrefix(s[i:], "eyJ"):
		return jwt(s, i, growing)
	case c == 'A':
		return awsKey(s, i), 0
	case c == 'S' && strings.HasPrefix(s[i:], "SK"): // Twilio
		if end := span(s, i+2, ""); end-i == 34 && strings.Trim(s[i+2:end], "0123456789abcdef") == "" {
			return end, 0
		}
	case c == 'm' && strings.HasPrefix(s[i:], "mfa."):
		if end := span(s, i+4, "-_"); end-i > 60 {
			return end, 0
		}
	case digit(c):
		return telegramToken(s, i, growing)
	}
	return discordToken(s, i, growing), 0
}

// span is the end of the letters, digits and extra characters from i on, without closing
// punctuation.
func span(s string, i int, extra string) int {
	from := i
	for i < len(s) && (letter(s[i]) || digit(s[i]) || strings.IndexByte(extra, s[i]) >= 0) {
		i++
	}
	for i > from && (s[i-1] == '.' || s[i-1] == ',' || s[i-1] == ' ') {
		i--
	}
	return i
}

func jwt(s string, i int, growing bool) (end, keep int) {
	head := span(s, i, "-_")
	if growing && strings.Trim(s[head:], ".") == "" {
		return head, 0
	}
	if head-i < 10 || head == len(s) || s[head] != '.' {
		return 0, 0
	}
	if body := span(s, head+1, "-_"); body-head > 8 || growing && body == len(s) {
		return span(s, i, "-_."), 0
	}
	return 0, 0
}

func awsKey(s string, i int) int {
	for _, p := range [...]string{"AKIA", "ASIA", "ABIA", "ACCA", "AIDA", "AROA"} {
		if strings.HasPrefix(s[i:], p) {
			end := wordEnd(s, i)
			if end-i >= 16 && end-i <= 24 && s[i:end] == strings.ToUpper(s[i:end]) {
				return end
			}
		}
	}
	return 0
}

// telegramToken is 123456789:AA… with 35 characters (30 here, to be safe).
func telegramToken(s string, i int, growing bool) (end, keep int) {
	n := i
	for n < len(s) && digit(s[n]) {
		n++
	}
	if n-i < 6 || n-i > 12 || n == len(s) || s[n] != ':' {
		return 0, 0
	}
	end = span(s, n+1, "-_")
	if end-n > 30 || growing && end == len(s) && end > n+1 {
		return end, 0
	}
	return 0, 0
}

// discordToken is base64(id) "." six characters "." at least 27.
func discordToken(s string, i int, growing bool) int {
	if s[i] != 'M' && s[i] != 'N' && s[i] != 'O' {
		return 0
	}
	one := span(s, i, "-_")
	if one-i < 23 || one-i > 30 {
		return 0
	}
	if one == len(s) && growing && opaque(s[i:one]) {
		return one
	}
	if one == len(s) || s[one] != '.' {
		return 0
	}
	two := span(s, one+1, "-_")
	if two == len(s) && growing && two-one <= 7 {
		return two
	}
	if two-one < 6 || two-one > 8 || two == len(s) || s[two] != '.' {
		return 0
	}
	three := span(s, two+1, "-_")
	if three-two > 27 || three == len(s) && growing {
		return three
	}
	return 0
}

// webhooks are URLs whose path is the secret.
var webhooks = [...]string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "/api/webhooks/", "webhook.office.com/webhookb2/"}

func maskWebhooks(s string) string {
	const mark = "hook" // is in each of them
	e := edit{src: s}
	for at := 0; ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return e.String()
		}
		i += at
		at = i + len(mark)
		for _, w := range webhooks {
			if from := i - strings.Index(w, mark); from >= 0 && strings.HasPrefix(s[from:], w) {
				from += len(w)
				end := span(s, from, "-_/@.")
				e.replace(from, end, Masked)
				at = end
			}
		}
	}
}
