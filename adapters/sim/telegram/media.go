package telegram

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	_ "image/gif" // the sizes of photos
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"typist/adapters/sim"
)

// maxDownload: getFile serves files of up to 20 MB. https://core.telegram.org/bots/api#getfile
const maxDownload = 20 << 20

func mimeOf(name string, data []byte) string {
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		t, _, _ = strings.Cut(t, ";")
		return t
	}
	t, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return t
}

// store keeps a file and gives it an id; callers hold mu.
func (s *Server) store(f sim.File) (id, unique string) {
	sum := sha256.Sum256(append([]byte(f.Name), f.Data...))
	unique = "AQAD" + hex.EncodeToString(sum[:6])
	id = "BQACAgIAAxkBAAI" + hex.EncodeToString(sum[:16])
	s.files[id] = f
	return id, unique
}

// attach puts a file into a message, as photo or document; callers hold mu.
func (s *Server) attach(m *Message, f sim.File, photo bool) error {
	id, unique := s.store(f)
	if !photo {
		m.Document = &Document{FileID: id, FileUniqueID: unique, FileName: f.Name, MimeType: f.MIME, FileSize: len(f.Data)}
		return nil
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil {
		return bad("IMAGE_PROCESS_FAILED")
	}
	if cfg.Width+cfg.Height > 10000 || len(f.Data) > 10<<20 {
		return bad("PHOTO_INVALID_DIMENSIONS")
	}
	m.Photo = []PhotoSize{
		{FileID: id, FileUniqueID: unique + "s", Width: max(1, cfg.Width/4), Height: max(1, cfg.Height/4), FileSize: len(f.Data) / 4},
		{FileID: id, FileUniqueID: unique, Width: cfg.Width, Height: cfg.Height, FileSize: len(f.Data)},
	}
	return nil
}

func (s *Server) sendDocument(_ *http.Request, p params) (any, error) {
	return s.sendFile(p, "document", false)
}

func (s *Server) sendPhoto(_ *http.Request, p params) (any, error) {
	return s.sendFile(p, "photo", true)
}

func (s *Server) sendFile(p params, field string, photo bool) (any, error) {
	f, ok := p.files[field]
	if !ok {
		return nil, bad("there is no %s in the request", field)
	}
	if len(f.Data) == 0 {
		return nil, bad("file must be non-empty")
	}
	caption, entities, err := s.formatted(p.get("caption"), p.get("parse_mode"), p.get("caption_entities"), maxCaption, "caption")
	if err != nil {
		return nil, err
	}
	m := Message{Caption: caption, CaptionEntities: detect(caption, entities)}
	s.mu.Lock()
	err = s.attach(&m, f, photo)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	in, err := s.begin(p, 1)
	if err != nil {
		return nil, err
	}
	return s.post(in, m, []sim.File{f}), nil
}

// inputMedia is https://core.telegram.org/bots/api#inputmediadocument, and ...photo.
type inputMedia struct {
	Type            string   `json:"type"`
	Media           string   `json:"media"`
	Caption         string   `json:"caption"`
	ParseMode       string   `json:"parse_mode"`
	CaptionEntities []Entity `json:"caption_entities"`
}

func (s *Server) sendMediaGroup(_ *http.Request, p params) (any, error) {
	var list []inputMedia
	if _, err := p.object("media", &list); err != nil {
		return nil, err
	}
	if len(list) < 2 || len(list) > 10 {
		return nil, bad("wrong number of items in the album: 2-10 are needed")
	}
	messages := make([]Message, len(list))
	files := make([]sim.File, len(list))
	for i, item := range list {
		if item.Type != list[0].Type || item.Type != "photo" && item.Type != "document" {
			return nil, bad("media of this types can't be mixed in an album")
		}
		f, ok := p.files[strings.TrimPrefix(item.Media, "attach://")]
		if !ok || len(f.Data) == 0 {
			return nil, bad("wrong file identifier/HTTP URL specified")
		}
		caption, entities, err := s.formatted(item.Caption, item.ParseMode, "", maxCaption, "caption")
		if err != nil {
			return nil, err
		}
		files[i] = f
		messages[i] = Message{Caption: caption, CaptionEntities: detect(caption, entities)}
		s.mu.Lock()
		err = s.attach(&messages[i], f, item.Type == "photo")
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	in, err := s.begin(p, len(list))
	if err != nil {
		return nil, err
	}
	group := strconv.FormatInt(s.world.NextID()+13_000_000_000, 10)
	for i := range messages {
		messages[i].MediaGroupID = group
		messages[i] = s.post(in, messages[i], files[i:i+1])
	}
	return messages, nil
}

func (s *Server) getFile(_ *http.Request, p params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := p.get("file_id")
	f, ok := s.files[id]
	if !ok {
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	}
	if len(f.Data) > maxDownload {
		return nil, bad("file is too big")
	}
	return File{FileID: id, FileUniqueID: id[:8], FileSize: len(f.Data), FilePath: "documents/" + id}, nil
}

// serveFile answers /file/bot<token>/documents/<id>.
func (s *Server) serveFile(rw http.ResponseWriter, rest string) {
	token, name, _ := strings.Cut(rest, "/")
	call := sim.Call{Op: sim.OpOther, Method: "download"}
	s.world.Intercept(rw, call, s.closing, func() *sim.Answer {
		s.mu.Lock()
		f, ok := s.files[strings.TrimPrefix(name, "documents/")]
		s.mu.Unlock()
		if token != s.token {
			return failure(&apiError{code: http.StatusUnauthorized, text: "Unauthorized"})
		}
		if !ok {
			return failure(&apiError{code: http.StatusNotFound, text: "Not Found"})
		}
		return &sim.Answer{Header: http.Header{"Content-Type": {"application/octet-stream"}}, Body: f.Data}
	}, refuse)
}
