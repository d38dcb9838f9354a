package slack

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"typist/adapters/sim"
)

// file is an uploaded file.
type file struct {
	id, name, mime string
	size           int
	data           []byte
	uploaded       bool
	owner          string
	channel, ts    string // of the message that shares it
}

func (s *Server) fileJSON(f *file) map[string]any {
	url := s.ln.URL() + "/files/" + f.id + "/" + f.name
	shares := map[string]any{}
	if f.channel != "" {
		shares["public"] = map[string]any{f.channel: []any{map[string]any{"ts": f.ts, "team_id": teamID}}}
	}
	return map[string]any{
		"shares": shares, "id": f.id, "created": 1700000000, "timestamp": 1700000000, "name": f.name, "title": f.name, "mimetype": f.mime,
		"filetype": strings.TrimPrefix(path.Ext(f.name), "."), "pretty_type": "File", "user": f.owner, "user_team": teamID, "editable": false,
		"size": len(f.data), "mode": "hosted", "is_external": false, "external_type": "", "is_public": true, "public_url_shared": false,
		"display_as_bot": false, "username": "", "url_private": url, "url_private_download": url, "media_display_type": "unknown",
		"permalink": "https://miniature.slack.com/files/" + f.owner + "/" + f.id, "has_rich_preview": false, "file_access": "visible",
	}
}

func (s *Server) keepFile(owner string, in sim.File) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &file{id: s.nextID("F"), name: in.Name, mime: in.MIME, size: len(in.Data), data: in.Data, uploaded: true, owner: owner}
	s.files[f.id] = f
	return f
}

func (s *Server) getUploadURL(c *call) (map[string]any, *failure) {
	size, err := strconv.Atoi(c.get("length"))
	switch {
	case c.get("filename") == "" || err != nil || size <= 0:
		return nil, fail("invalid_arguments")
	case size > maxFileBytes:
		return nil, fail("file_upload_size_restricted")
	}
	kind := mime.TypeByExtension(path.Ext(c.get("filename")))
	if kind == "" {
		kind = "application/octet-stream"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &file{id: s.nextID("F"), name: c.get("filename"), mime: kind, size: size, owner: botUserID}
	s.files[f.id] = f
	return map[string]any{"upload_url": s.ln.URL() + "/upload/" + f.id, "file_id": f.id}, nil
}

// serveUpload takes the bytes, raw or as a form's file.
func (s *Server) serveUpload(rw http.ResponseWriter, r *http.Request) {
	log := sim.Call{Op: sim.OpOther, Method: "files.upload"}
	s.world.Intercept(rw, log, s.ctx.Done(), func() *sim.Answer {
		var data []byte
		var err error
		if part, _, formErr := r.FormFile("file"); formErr == nil {
			data, err = io.ReadAll(part)
		} else {
			data, err = io.ReadAll(r.Body)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		f := s.files[r.PathValue("file")]
		if err != nil || f == nil || len(data) != f.size {
			return &sim.Answer{Status: http.StatusBadRequest, Body: []byte("bad upload"), Error: "bad upload"}
		}
		f.data, f.uploaded = data, true
		return &sim.Answer{Body: []byte("OK - " + strconv.Itoa(len(data)))}
	}, s.refuse)
}

func (s *Server) completeUpload(c *call) (map[string]any, *failure) {
	var list []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if err := json.Unmarshal([]byte(c.get("files")), &list); err != nil || len(list) == 0 {
		return nil, fail("invalid_arguments")
	}
	channel := c.get("channel_id")
	if channel != "" {
		if f := s.member(channel); f != nil {
			return nil, f
		}
	}
	m := &message{channel: channel, user: botUserID, botID: botID, subtype: "file_share", text: c.get("initial_comment")}
	var out []any
	s.mu.Lock()
	for _, entry := range list {
		f := s.files[entry.ID]
		if f == nil || !f.uploaded {
			s.mu.Unlock()
			return nil, fail("file_not_found")
		}
		m.files = append(m.files, f)
		out = append(out, map[string]any{"id": f.id, "title": entry.Title})
	}
	s.mu.Unlock()
	if channel != "" {
		s.publish(m, c.get("thread_ts"), nil)
		s.mu.Lock()
		for _, f := range m.files {
			f.channel, f.ts = m.channel, m.ts
		}
		s.mu.Unlock()
	}
	return map[string]any{"files": out}, nil
}

func (s *Server) fileInfo(c *call) (map[string]any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[c.get("file")]
	if f == nil {
		return nil, fail("file_not_found")
	}
	return map[string]any{"file": s.fileJSON(f), "comments": []any{}, "paging": map[string]any{"count": 100, "total": 0, "page": 1, "pages": 0}}, nil
}

// serveDownload gives a file to whoever has the bot's token, and the sign-in page to others.
func (s *Server) serveDownload(rw http.ResponseWriter, r *http.Request) {
	log := sim.Call{Op: sim.OpOther, Method: "files.download"}
	s.world.Intercept(rw, log, s.ctx.Done(), func() *sim.Answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		f := s.files[r.PathValue("file")]
		allowed := r.Header.Get("Authorization") == "Bearer "+BotToken && s.scopes["files:read"]
		switch {
		case !allowed:
			h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
			return &sim.Answer{Header: h, Body: []byte("<!DOCTYPE html><title>Sign in</title>"), Error: "sign-in page"}
		case f == nil || !f.uploaded:
			return &sim.Answer{Status: http.StatusNotFound, Error: "not found"}
		}
		return &sim.Answer{Header: http.Header{"Content-Type": {f.mime}}, Body: f.data}
	}, s.refuse)
}
