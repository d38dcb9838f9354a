package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
)

// explain says what a probe's error means, in plain words with the cause in brackets, and what to
// do about it (O4). Neither is empty.
func explain(err error) (found, todo string) {
	var (
		local   *localError
		fatal   *adapters.FatalError
		damaged *store.Error
		failure *agent.Failure
		limited *adapters.RateLimitError
	)
	switch {
	case errors.As(err, &local):
		return local.found, local.todo
	case errors.As(err, &fatal):
		return halves(fatal.Sentence)
	case errors.As(err, &damaged):
		return halves(damaged.Sentence)
	case strings.HasPrefix(err.Error(), "MCP server "):
		return toolWords(err)
	case errors.As(err, &limited):
		return "asks for a pause (rate limit)", fmt.Sprintf("wait %s, then check again", limited.RetryAfter.Round(time.Second))
	case errors.As(err, &failure):
		return failureWords(failure), failureAdvice(failure)
	case errors.Is(err, adapters.ErrDenied):
		return because("does not allow it", err), "check the token and the bot's rights"
	case errors.Is(err, adapters.ErrNeverSent):
		return because("can't be reached", err), "check the network, the proxy and apiURL"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, adapters.ErrUnknownOutcome):
		return because("gave no answer in time", err), "check the network and apiURL, then try again"
	case errors.Is(err, adapters.ErrInvalid), errors.Is(err, adapters.ErrGone):
		return because("refuses the call", err), "does apiURL point at this platform's API?"
	}
	return toolWords(err)
}

// toolWords explains what the library says of tool servers (MCP); it has no types for it.
func toolWords(err error) (found, todo string) {
	text := err.Error()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return because("the program is not there", err), "install it, or name it with its whole path in command"
	case strings.Contains(text, "method not found"):
		return because("a tool server (MCP), but one without tools", err), "look up what this server is for, or take it out of mcpServers"
	}
	f := agent.Classify(err)
	switch {
	case f != nil && f.Kind == agent.TimedOut:
		return because("gave no answer in time", err), "is it a tool server (MCP)? run the command by hand, or check url and the network"
	case f != nil && f.Kind == agent.NeverSent:
		return because("can't be reached", err), "is the server running? check url and the network"
	case strings.Contains(text, "client is closing"), f != nil && f.Kind == agent.Malformed:
		return because("does not speak MCP", err), "check command: it has to start a tool server (MCP) that speaks over stdin and stdout"
	case strings.Contains(text, "rejected by transport"), strings.Contains(text, "sending \"initialize\""), strings.Contains(text, "unsupported content type"):
		return because("answers, but not as a tool server (MCP)", err), "check url: it has to be the server's MCP address, and headers if it wants a key"
	case f != nil && f.Kind == agent.CutEarly:
		return because("ended without an answer", err), "run the command by hand and look at what it prints"
	}
	return because("does not work", err), "run the command by hand, or open the address, and look at what it says"
}

// halves splits a sentence into what is wrong and what to do. Where it does not say so in two
// parts, the whole of it is both.
func halves(sentence string) (what, mend string) {
	cut := len(sentence)
	for _, mark := range []string{"; ", ". ", ": "} {
		if i := strings.Index(sentence, mark); i > 0 && i < cut && strings.TrimSpace(sentence[i+2:]) != "" {
			cut = i
		}
	}
	if cut == len(sentence) {
		return sentence, sentence
	}
	return sentence[:cut], strings.TrimSpace(sentence[cut+2:])
}

// because puts the cause behind plain words.
func because(words string, err error) string { return words + " (" + cause(err) + ")" }

// cause is an error's text on one line, without the request that net/http puts in front.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) && u.Err != nil {
		err = u.Err
	}
	text := strings.ReplaceAll(err.Error(), adapters.ErrNeverSent.Error()+": ", "")
	text = strings.ReplaceAll(text, "connection closed: calling \"initialize\": client is closing: ", "")
	return firstLine(text)
}

func failureWords(f *agent.Failure) string {
	var words string
	switch f.Kind {
	case agent.NeverSent:
		words = "can't be reached"
	case agent.CutEarly:
		words = "broke the connection off"
	case agent.ServerError:
		words = "answers, but fails"
	case agent.Overloaded:
		words = "says that it is overloaded"
	case agent.RateLimited:
		words = "says that the rate limit is used up"
	case agent.Unauthorized:
		words = "refuses the key"
	case agent.NotFound:
		if f.Status == 0 {
			return f.Detail // its list of models
		}
		words = "does not know this model or address"
	case agent.TooLong, agent.Invalid:
		words = "refuses the request"
	case agent.Malformed:
		words = "answers something else than expected"
	case agent.TimedOut:
		words = "gave no answer in time"
	case agent.Crashed:
		words = "could not be started, or ended"
	}
	why := f.Detail
	var u *url.Error
	if errors.As(f.Err, &u) || why == "" && f.Err != nil {
		why = agent.Mask(cause(f.Err))
	}
	if f.Status != 0 {
		why = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", f.Status, why), ": ")
	}
	if why == "" {
		return words
	}
	return words + " (" + firstLine(why) + ")"
}

func failureAdvice(f *agent.Failure) string {
	switch f.Kind {
	case agent.NeverSent:
		return "is the server running? check baseURL (or the command) and the network"
	case agent.Unauthorized:
		return "check apiKey"
	case agent.NotFound:
		if f.Status == 0 {
			return "set model to one that is there, or load this one on the server"
		}
		return "check model and baseURL"
	case agent.ServerError, agent.Overloaded, agent.RateLimited, agent.CutEarly, agent.TimedOut:
		return "the server has trouble: look at its log, or try again later"
	case agent.Crashed:
		return "run the command by hand and look at what it prints"
	case agent.Invalid, agent.TooLong, agent.Malformed:
	}
	return "does baseURL point at an API of this type?"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
