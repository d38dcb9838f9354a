package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
)

// fileID marks a File.Source that is a file's id, not its address.
const fileID = "file:"

const (
	shareTries = 4
	shareWait  = 300 * time.Millisecond
)

var errTooLarge = errors.New("file is larger than allowed")

// Fetch loads a file that a person sent, with the bot's token, at most limit bytes.
func (a *Adapter) Fetch(ctx context.Context, file adapters.File, limit int64) ([]byte, error) {
	source := file.Source
	if id, ok := strings.CutPrefix(source, fileID); ok {
		info, _, _, err := a.api.GetFileInfoContext(ctx, id, 0, 0)
		if err != nil {
			return nil, wrap("files.info", err)
		}
		if source = info.URLPrivateDownload; source == "" {
			source = info.URLPrivate
		}
	}
	if file.Size > limit {
		return nil, fmt.Errorf("slack file %s: %w: %d of %d bytes", file.Name, errTooLarge, file.Size, limit)
	}
	body := &limited{left: limit}
	// slack-go sends the token only to Slack's own hosts and the API's.
	if err := a.api.GetFileContext(ctx, source, body); err != nil {
		if errors.Is(err, errTooLarge) {
			return nil, fmt.Errorf("slack file %s: %w: more than %d bytes", file.Name, errTooLarge, limit)
		}
		return nil, wrap("file download", err)
	}
	data := body.buf.Bytes()
	if isSignIn(data) && !strings.Contains(file.MIME, "html") {
		return nil, fmt.Errorf("slack file %s: %w: Slack answered with its sign-in page; the app needs the scope files:read", file.Name, adapters.ErrDenied)
	}
	return data, nil
}

// isSignIn recognises the page that Slack sends, with status 200, to who may not have a file.
func isSignIn(data []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 100)]))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// limited is a buffer that refuses to grow beyond its limit.
type limited struct {
	buf  bytes.Buffer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errTooLarge
	}
	return l.buf.Write(p)
}

// share uploads files into the chat, as one message, and gives the id of one of them; "" = there
// was nothing to upload.
func (a *Adapter) share(ctx context.Context, chat adapters.Chat, list []adapters.File) (string, error) {
	var summaries []slack.FileSummary
	for _, f := range list {
		if len(f.Data) == 0 { // Slack takes no empty files
			a.log.Warn("an empty file is not uploaded", "file", f.Name)
			continue
		}
		name := path.Base("/" + f.Name)
		if name == "/" || name == "." {
			name = "file"
		}
		up, err := a.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: name, FileSize: len(f.Data)})
		if err != nil {
			return "", wrap("files.getUploadURLExternal", err)
		}
		if err := a.api.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: up.UploadURL, Reader: bytes.NewReader(f.Data), Filename: name}); err != nil {
			return "", wrap("file upload", err)
		}
		summaries = append(summaries, slack.FileSummary{ID: up.FileID, Title: name})
	}
	if len(summaries) == 0 {
		return "", nil
	}
	_, err := a.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
		Files: summaries, Channel: chat.ID, ThreadTimestamp: chat.Thread,
	})
	return summaries[0].ID, wrap("files.completeUploadExternal", err)
}

// shareOnce is share for a post that may be sent again: once its files stand they are not shared a
// second time, whatever became of its text (S3).
func (a *Adapter) shareOnce(ctx context.Context, chat adapters.Chat, post adapters.Post) (string, error) {
	if id, ok := a.shared.get(post.Key); ok {
		return id, nil
	}
	id, err := a.share(ctx, chat, post.Files)
	if err == nil && post.Key != "" {
		a.shared.put(post.Key, id)
	}
	return id, err
}

// sharedFiles remembers the files of the newest posts by the posts' keys.
type sharedFiles struct {
	mu   sync.Mutex
	keys []string // oldest first
	ids  map[string]string
}

// sharedPosts is how many posts with files are remembered: far more than are tried again at once.
const sharedPosts = 500

func (s *sharedFiles) get(key string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.ids[key]
	return id, ok
}

func (s *sharedFiles) put(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string]string{}
	}
	if len(s.keys) == sharedPosts {
		delete(s.ids, s.keys[0])
		s.keys = s.keys[1:]
	}
	s.keys = append(s.keys, key)
	s.ids[key] = id
}

// sharedAs finds the message that shares a file. Slack makes it a moment after the upload; where
// it does not tell which it is, the ref names the file, and no edit reaches it.
func (a *Adapter) sharedAs(ctx context.Context, chat adapters.Chat, id string) adapters.Ref {
	for range shareTries {
		if info, _, _, err := a.api.GetFileInfoContext(ctx, id, 0, 0); err == nil {
			for _, shares := range []map[string][]slack.ShareFileInfo{info.Shares.Public, info.Shares.Private} {
				for _, s := range shares[chat.ID] {
					a.own.add(chat.ID + "/" + s.Ts)
					return adapters.Ref{Chat: chat, ID: s.Ts}
				}
			}
		}
		timer := time.NewTimer(shareWait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return adapters.Ref{Chat: chat, ID: fileID + id}
}
