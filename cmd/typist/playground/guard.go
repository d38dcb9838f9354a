package playground

import (
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// policy lets the page load what it consists of, from here, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard lets in who comes from this machine, names it by one of its own names, was not sent by
// another site, and has the token of the address that was printed.
func (w *web) guard(next http.Handler) http.Handler {
	_, port, err := net.SplitHostPort(w.listener.Addr().String())
	if err != nil {
		panic(err) // a TCP address
	}
	cookie := "typist_playground_" + port // cookies know no ports
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !fromHere(r) || !ownName(r.Host, port):
			http.Error(rw, "the playground is for this machine only: open the address that it printed", http.StatusForbidden)
			return
		case !ownOrigin(r):
			http.Error(rw, "another site sent this", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("token") {
			w.letIn(rw, r, cookie)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || !w.isToken(c.Value) {
			http.Error(rw, "open the address that the playground printed: it has the token that lets you in", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodPost {
			if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
				http.Error(rw, "want application/json", http.StatusUnsupportedMediaType)
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
}

// letIn trades the token in the address for a cookie and takes it out of the address.
func (w *web) letIn(rw http.ResponseWriter, r *http.Request, cookie string) {
	if !w.isToken(r.URL.Query().Get("token")) {
		http.Error(rw, "this token is of another playground: open the address that this one printed", http.StatusForbidden)
		return
	}
	http.SetCookie(rw, &http.Cookie{Name: cookie, Value: w.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(rw, r, "/", http.StatusSeeOther)
}

func (w *web) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(w.token)) == 1
}

// fromHere: the connection comes from loopback, not through a proxy.
func fromHere(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// ownName: the page was asked for by a name of this machine, so no other name was made to point
// here (DNS rebinding).
func ownName(host, port string) bool {
	switch strings.ToLower(host) {
	case "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port:
		return true
	}
	return false
}

// ownOrigin: no other site caused the request. What changes something must say where it comes from.
func ownOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default: // another site: it may link to the page, no more
		if r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.URL.Path != "/" {
			return false
		}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	return origin == "http://"+r.Host
}
