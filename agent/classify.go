package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
)

// HTTPError is an answer of a backend that refused: a status of its own, or an error object in
// the middle of a stream (Status 0, or the status that the object names).
type HTTPError struct {
	Status int
	Header http.Header // nil in mid-stream
	Body   []byte      // as far as it was read
}

func (e *HTTPError) Error() string {
	s := "error in the stream"
	if e.Status != 0 {
		s = fmt.Sprintf("HTTP %d", e.Status)
	}
	if words := readErrorBody(e.Body).words; words != "" {
		s += ": " + oneLine(words)
	}
	return s
}

// UnsentError marks an error that happened before anything of the request left this machine.
type UnsentError struct{ Err error }

func (e *UnsentError) Error() string { return e.Err.Error() }
func (e *UnsentError) Unwrap() error { return e.Err }

// ProtocolError is an answer that the backend's protocol does not allow.
type ProtocolError struct {
	Detail string
	Err    error // may be nil
}

func (e *ProtocolError) Error() string {
	if e.Err == nil {
		return e.Detail
	}
	return e.Detail + ": " + e.Err.Error()
}
func (e *ProtocolError) Unwrap() error { return e.Err }

// Classify tells failures apart (S3); it is the only place that does. A *Failure comes back as it
// is, with its Detail masked. nil, and the end of a context that was cancelled, are no failures: a
// stop is not an error (S2).
func Classify(err error) *Failure {
	if err == nil {
		return nil
	}
	var known *Failure
	if errors.As(err, &known) {
		f := *known
		f.Detail = oneLine(f.Detail)
		return &f
	}
	var refused *HTTPError
	if errors.As(err, &refused) {
		return fromHTTP(refused, err)
	}
	kind := kindOf(err)
	if kind == "" {
		return nil
	}
	return &Failure{Kind: kind, Detail: oneLine(err.Error()), Err: err}
}

// kindOf classifies what is no answer of an HTTP server. "" for a cancelled context.
func kindOf(err error) FailureKind {
	var (
		unsent   *UnsentError
		protocol *ProtocolError
		netErr   net.Error
		exit     *exec.ExitError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.As(err, &unsent), neverSent(err):
		return NeverSent
	case errors.As(err, &protocol), malformed(err):
		return Malformed
	case errors.As(err, &exit), errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return Crashed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, net.ErrClosed), errors.As(err, &netErr), http2Broken(err):
		return CutEarly
	}
	return Crashed
}

// neverSent recognises failures of resolving, connecting and of the TLS handshake.
func neverSent(err error) bool {
	var (
		dns    *net.DNSError
		op     *net.OpError
		alert  tls.AlertError
		record tls.RecordHeaderError
		cert   *tls.CertificateVerificationError
		host   x509.HostnameError
		ca     x509.UnknownAuthorityError
		bad    x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &dns), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &cert),
		errors.As(err, &host), errors.As(err, &ca), errors.As(err, &bad), errors.Is(err, http.ErrSchemeMismatch):
		return true
	case errors.As(err, &op):
		return op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect"
	}
	// net/http keeps this one's type to itself.
	return strings.Contains(err.Error(), "TLS handshake timeout")
}

func malformed(err error) bool {
	var (
		syntax *json.SyntaxError
		typ    *json.UnmarshalTypeError
	)
	return errors.As(err, &syntax) || errors.As(err, &typ) ||
		strings.Contains(err.Error(), "malformed HTTP") // net/http: no type of its own
}

// http2Broken recognises a broken HTTP/2 stream or connection; net/http's bundled HTTP/2 exports
// no types for it.
func http2Broken(err error) bool {
	s := err.Error()
	return strings.Contains(s, "stream error: stream ID") || strings.Contains(s, "GOAWAY") ||
		strings.Contains(s, "http2: ") || strings.Contains(s, "server closed idle connection")
}

// fromHTTP classifies an answer: by status, and by the error object's code and type where they
// say more. Text decides only where neither exists: which 400 means that the context is too long,
// which 503 that the server has too much to do and not that it is broken or still starts.
func fromHTTP(e *HTTPError, err error) *Failure {
	body := readErrorBody(e.Body)
	status := e.Status
	if body.status != 0 && status < 400 {
		status = body.status
	}
	f := &Failure{Kind: kindOfStatus(status), Status: status, Detail: oneLine(body.words), Err: err}
	if kind, ok := kindOfCode(body.code, body.typ, status); ok {
		f.Kind = kind
	}
	switch {
	case f.Kind == Invalid && tooLongWords(body.words):
		f.Kind = TooLong
	case f.Kind == ServerError && (status == http.StatusServiceUnavailable || status == 0) && overloadWords(body.words):
		f.Kind = Overloaded
	}
	if f.Kind == RateLimited || f.Kind == Overloaded || f.Kind == ServerError {
		f.RetryAfter = retryAfter(e.Header)
	}
	return f
}

// statusOverloaded is Anthropic's status for an overloaded API.
const statusOverloaded = 529

func kindOfStatus(status int) FailureKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusRequestEntityTooLarge:
		return TooLong
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == statusOverloaded:
		return Overloaded
	case status == http.StatusRequestTimeout, status >= 500:
		return ServerError
	case status >= 400:
		return Invalid
	case status == 0: // an error in the stream that names no status: the server's trouble
		return ServerError
	}
	return Malformed
}

// kindOfCode reads the codes and types of OpenAI, Anthropic, vLLM, llama.cpp and OpenRouter.
// Type words as general as OpenAI's "invalid_request_error" decide only without a status.
func kindOfCode(code, typ string, status int) (FailureKind, bool) {
	for _, word := range []string{code, typ} {
		switch word {
		case "context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length":
			return TooLong, true
		case "model_not_found":
			return NotFound, true
		case "insufficient_quota", "billing_error":
			return Invalid, true // a 429, but waiting changes nothing
		case "overloaded_error":
			return Overloaded, true
		case "rate_limit_error", "rate_limit_exceeded":
			return RateLimited, true
		case "invalid_api_key":
			return Unauthorized, true
		}
	}
	if status != 0 {
		return "", false
	}
	switch typ {
	case "authentication_error", "permission_error":
		return Unauthorized, true
	case "not_found_error":
		return NotFound, true
	case "invalid_request_error", "BadRequestError":
		return Invalid, true
	}
	return "", false
}

// tooLongWords recognises a full context in the words of servers that give no code for it:
// Anthropic, vLLM, OpenRouter, Ollama, llama.cpp.
func tooLongWords(s string) bool {
	s = strings.ToLower(s)
	for _, words := range []string{
		"prompt is too long", "maximum context length", "context length exceeded", "exceeds the context length",
		"exceeds the available context size", "exceed context limit", "maximum number of tokens allowed", "context window",
	} {
		if strings.Contains(s, words) {
			return true
		}
	}
	return false
}

// overloadWords recognises a server that has too much to do in its own words: vLLM, Ollama
// ("server busy"), OpenAI ("overloaded"), Gemini, proxies.
func overloadWords(s string) bool {
	s = strings.ToLower(s)
	for _, words := range []string{"overload", "over capacity", "no capacity", "at capacity", "server busy", "server is busy", "too busy", "high demand", "high load", "too many requests", "queue is full"} {
		if strings.Contains(s, words) {
			return true
		}
	}
	return false
}
