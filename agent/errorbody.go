package agent

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errorBody is what the bodies of refusals have in common. Model servers write
// {"error":{"message","type","code"}} (OpenAI, Anthropic, OpenRouter, vLLM), {"error":"…"}
// (Ollama), {"object":"error","message",…} (older vLLM) or {"detail":…} (FastAPI).
type errorBody struct {
	words  string
	code   string // as far as it is a word
	typ    string
	status int // as far as the code is an HTTP status
}

func readErrorBody(b []byte) errorBody {
	var outer map[string]json.RawMessage
	if json.Unmarshal(b, &outer) != nil {
		return errorBody{words: string(b)}
	}
	object := outer
	switch inner := bytes.TrimSpace(outer["error"]); {
	case len(inner) > 0 && inner[0] == '{':
		if json.Unmarshal(inner, &object) != nil {
			object = outer
		}
	case len(inner) > 0 && inner[0] == '"':
		return errorBody{words: jsonString(inner)}
	}
	e := errorBody{words: jsonString(object["message"]), typ: jsonString(object["type"]), code: jsonString(object["code"])}
	if e.code == "" {
		e.code = string(object["code"])
	}
	if n, err := strconv.Atoi(e.code); err == nil {
		e.code = ""
		if n >= 400 && n < 600 {
			e.status = n
		}
	}
	if e.words == "" {
		if e.words = jsonString(object["detail"]); e.words == "" {
			e.words = string(b)
		}
	}
	return e
}

// jsonString is the string that raw holds, "" for anything else.
func jsonString(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// maxWait bounds what a server may tell: a longer wait is a mistake of its clock, or as good as
// a refusal.
const maxWait = 24 * time.Hour

// retryAfter reads how long a server says to wait; 0 = not told. In order: retry-after-ms
// (OpenAI, Azure), Retry-After in seconds or as a date (RFC 9110 10.2.3), the reset of the limit
// that is used up (OpenAI: "1s", "6m0s"), X-RateLimit-Reset as Unix time (OpenRouter: ms).
func retryAfter(h http.Header) time.Duration {
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server's clock: its dates are measured by it
	}
	wait := time.Duration(0)
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		wait = floatDuration(ms, time.Millisecond)
	} else if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if seconds, err := strconv.ParseFloat(v, 64); err == nil {
			wait = floatDuration(seconds, time.Second)
		} else if date, err := http.ParseTime(v); err == nil {
			wait = date.Sub(now)
		}
	} else if wait = usedUp(h); wait == 0 {
		wait = resetTime(h.Get("X-RateLimit-Reset"), now)
	}
	return min(max(wait, 0), maxWait)
}

// floatDuration multiplies without overflow; NaN gives 0.
func floatDuration(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n, float64(maxWait/unit)) * float64(unit))
}

// usedUp is the longest reset among OpenAI's limits of which nothing remains.
func usedUp(h http.Header) time.Duration {
	wait := time.Duration(0)
	for _, limit := range []string{"requests", "tokens"} {
		if h.Get("x-ratelimit-remaining-"+limit) != "0" {
			continue
		}
		if d, err := time.ParseDuration(h.Get("x-ratelimit-reset-" + limit)); err == nil {
			wait = max(wait, d)
		}
	}
	return wait
}

// resetTime reads a Unix time in milliseconds or seconds.
func resetTime(v string, now time.Time) time.Duration {
	n, err := strconv.ParseInt(v, 10, 64)
	switch {
	case err != nil || n <= 0:
		return 0
	case n > 1e11: // as seconds that would be the year 5138
		return time.UnixMilli(n).Sub(now)
	default:
		return time.Unix(n, 0).Sub(now)
	}
}

// detailLimit is how much of a backend's own words is kept, in characters.
const detailLimit = 300

// oneLine makes a Failure's Detail: white space collapsed, masked (P4), cut.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > 4*detailLimit {
		s = string(r[:4*detailLimit]) // masking needs little more than what can be kept
	}
	s = Mask(s)
	if r := []rune(s); len(r) > detailLimit {
		s = string(r[:detailLimit-1]) + "…"
	}
	return s
}
