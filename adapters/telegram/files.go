package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// files lists a message's attachments; of a photo's sizes the largest.
func files(m *models.Message) []adapters.File {
	var out []adapters.File
	add := func(id, name, fallback, mime, guess string, size int64) {
		if id == "" {
			return
		}
		if name == "" {
			name = fallback
		}
		if mime == "" {
			mime = guess
		}
		out = append(out, adapters.File{Name: name, MIME: mime, Size: size, Source: id})
	}
	if n := len(m.Photo); n > 0 {
		best := m.Photo[0]
		for _, p := range m.Photo[1:] {
			if p.Width*p.Height > best.Width*best.Height {
				best = p
			}
		}
		add(best.FileID, "", "photo-"+strconv.Itoa(m.ID)+".jpg", "", "image/jpeg", int64(best.FileSize))
	}
	switch { // an animation comes with a document of the same content
	case m.Animation != nil:
		add(m.Animation.FileID, m.Animation.FileName, "animation.mp4", m.Animation.MimeType, "video/mp4", m.Animation.FileSize)
	case m.Document != nil:
		add(m.Document.FileID, m.Document.FileName, "file", m.Document.MimeType, "application/octet-stream", m.Document.FileSize)
	case m.Audio != nil:
		add(m.Audio.FileID, m.Audio.FileName, "audio.mp3", m.Audio.MimeType, "audio/mpeg", m.Audio.FileSize)
	case m.Voice != nil:
		add(m.Voice.FileID, "", "voice.ogg", m.Voice.MimeType, "audio/ogg", m.Voice.FileSize)
	case m.Video != nil:
		add(m.Video.FileID, m.Video.FileName, "video.mp4", m.Video.MimeType, "video/mp4", m.Video.FileSize)
	case m.VideoNote != nil:
		add(m.VideoNote.FileID, "", "video.mp4", "", "video/mp4", int64(m.VideoNote.FileSize))
	}
	return out
}

// Fetch downloads an inbound file.
func (a *Adapter) Fetch(ctx context.Context, file adapters.File, limit int64) ([]byte, error) {
	if file.Size > limit {
		return nil, tooLarge(file, limit)
	}
	var info *models.File
	err := a.call(ctx, func(ctx context.Context) (err error) {
		info, err = a.bot.GetFile(ctx, &bot.GetFileParams{FileID: file.Source})
		return err
	})
	if err != nil {
		return nil, err
	}
	if info == nil || info.FilePath == "" {
		return nil, errInvalid("the file has no path")
	}
	if info.FileSize > limit {
		return nil, tooLarge(file, limit)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var o outcome
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.bot.FileDownloadLink(info), nil)
	if err != nil {
		return nil, a.mapError(ctx, &o, err)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		o.asked = true
		return nil, a.mapError(ctx, &o, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		o = outcome{asked: true, connected: true, read: true, status: resp.StatusCode, code: resp.StatusCode}
		return nil, a.mapError(ctx, &o, errors.New(http.StatusText(resp.StatusCode)))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("telegram: reading %q: %w", file.Name, adapters.ErrUnknownOutcome)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(file, limit)
	}
	return data, nil
}

func tooLarge(file adapters.File, limit int64) error {
	return errInvalid(fmt.Sprintf("file %q is larger than %d bytes", file.Name, limit))
}

// upload is a file for the library's form.
func upload(f adapters.File) *models.InputFileUpload {
	name := strings.Map(func(r rune) rune { // it stands in a header, and in attach://
		if unicode.IsControl(r) || r == '"' || r == '\\' || r == '/' {
			return '_'
		}
		return r
	}, f.Name)
	if name == "" {
		name = "file"
	}
	return &models.InputFileUpload{Filename: name, Data: bytes.NewReader(f.Data)}
}
