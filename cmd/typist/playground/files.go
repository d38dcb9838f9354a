package playground

import (
	"mime"
	"net/http"
	"strconv"
)

// pictures are the types that a browser may show; everything else is downloaded.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// file is the content of a file in a message. It comes from the world alone: there is no way to
// the file system.
func (w *web) file(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t, err := w.town(q.Get("platform"))
	if err != nil {
		respond(rw, nil, err)
		return
	}
	m, ok := t.World().Message(q.Get("chat"), q.Get("id"))
	n, err := strconv.Atoi(q.Get("n"))
	if !ok || err != nil || n < 0 || n >= len(m.Files) || m.Deleted {
		http.NotFound(rw, r)
		return
	}
	f := m.Files[n]
	h := rw.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	if pictures[f.MIME] {
		h.Set("Content-Type", f.MIME)
	} else {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	}
	h.Set("Cache-Control", "private, max-age=3600")
	_, _ = rw.Write(f.Data) // an error means that the page has gone
}
