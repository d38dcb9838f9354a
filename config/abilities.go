package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unbuilt are the values whose ability does not exist yet, by key: refused by name instead of
// parsed and ignored. The line goes when the ability comes.
var unbuilt = map[string][]string{
	"store.url": {"postgres", "postgresql"},
}

func refuseUnbuilt(key, value string) *refusal {
	if slices.Contains(unbuilt[key], value) {
		return &refusal{reason: fmt.Sprintf("%s is not built yet", value)}
	}
	return nil
}

func checkStore(_ *decoder, _, value string) *refusal {
	if value == "" {
		return nil
	}
	const allowed = `"" for SQLite in dataDir`
	scheme, _, _ := strings.Cut(value, ":")
	if r := refuseUnbuilt("store.url", strings.ToLower(scheme)); r != nil {
		r.allowed = allowed
		return r
	}
	return &refusal{"unknown kind of database", allowed}
}

func checkURL(d *decoder, _, value string) *refusal {
	if value == "" {
		return nil
	}
	const allowed = "http://host:port/path or https://…"
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &refusal{"is no address of a web server", allowed}
	}
	if password, ok := u.User.Password(); ok {
		d.secrets = append(d.secrets, password)
	}
	return nil
}

func checkListen(_ *decoder, _, value string) *refusal {
	if value == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		return &refusal{"is no address to listen at", `host:port such as 127.0.0.1:8080, or ""`}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return &refusal{"has no usable port", "0 to 65535"}
	}
	return nil
}

func checkClock(_ *decoder, _, value string) *refusal {
	if value == "" || value == "24:00" {
		return nil
	}
	if _, err := time.Parse("15:04", value); err != nil || len(value) != len("15:04") {
		return &refusal{"is no time of day", "00:00 to 24:00"}
	}
	return nil
}

func checkZone(_ *decoder, _, value string) *refusal {
	if _, err := time.LoadLocation(value); err != nil {
		return &refusal{"unknown time zone", "an IANA name such as Europe/Berlin, or UTC"}
	}
	return nil
}
