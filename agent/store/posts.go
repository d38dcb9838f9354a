package store

import (
	"context"
	"time"
)

// Post is a message on its way out: the intent is stored before it is sent, the outcome after
// (S3), so that a crash in between never gives two copies.
type Post struct {
	Key       string // unique; adapters.Post.Key
	Chat      string
	RunID     string
	Purpose   string // the turn code's word: progress, answer, note …
	Part      int
	Body      []byte // what is needed to send it again
	MessageID string // "" until it is known
	Sent      bool
	At        time.Time
}

// PostIntent stores what is about to be sent. An intent with the same key that is not sent yet
// gets the new body; one that was sent stays as it is.
func (s *Store) PostIntent(ctx context.Context, p Post) error {
	if p.At.IsZero() {
		p.At = time.Now()
	}
	if p.Body == nil {
		p.Body = []byte{}
	}
	return s.write(ctx, "store post", func(c *conn) error {
		chat, err := chatID(c, p.Chat)
		if err != nil {
			return err
		}
		_, err = c.exec(`INSERT INTO posts (key, chat, run, purpose, part, body, message, sent, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, '', 0, ?7)
			ON CONFLICT (key) DO UPDATE SET body = excluded.body WHERE posts.sent = 0`,
			p.Key, chat, p.RunID, p.Purpose, p.Part, p.Body, millis(p.At))
		return err
	})
}

// PostSent stores that a post stands. messageID "" = it counts as sent though its message is
// unknown.
func (s *Store) PostSent(ctx context.Context, key, messageID string) error {
	return s.write(ctx, "store post's outcome", func(c *conn) error {
		n, err := c.exec(`UPDATE posts SET message = ?2, sent = 1 WHERE key = ?1`, key, messageID)
		return oneRow(n, err, "post", key)
	})
}

// DropPost forgets a post that surely never left and is not wanted any more. An unknown key is
// no error.
func (s *Store) DropPost(ctx context.Context, key string) error {
	return s.write(ctx, "drop post", func(c *conn) error {
		_, err := c.exec(`DELETE FROM posts WHERE key = ?1`, key)
		return err
	})
}

func (s *Store) posts(ctx context.Context, what, where string, args ...any) (out []Post, err error) {
	err = s.read(ctx, what, func(c *conn) error {
		out = nil
		return c.rows(`SELECT p.key, c.key, p.run, p.purpose, p.part, p.body, p.message, p.sent, p.at
			FROM posts p JOIN chats c ON c.id = p.chat`+where, args, func(r scanner) error {
			var p Post
			var sent, at int64
			err := r.Scan(&p.Key, &p.Chat, &p.RunID, &p.Purpose, &p.Part, &p.Body, &p.MessageID, &sent, &at)
			p.Sent, p.At = sent != 0, fromMillis(at)
			out = append(out, p)
			return err
		})
	})
	return out, err
}

// PostsOf lists a run's posts in the order of their intents.
func (s *Store) PostsOf(ctx context.Context, runID string) ([]Post, error) {
	return s.posts(ctx, "posts of a run", ` WHERE p.run = ?1 ORDER BY p.n`, runID)
}

// PostsOpen lists the posts whose outcome is not known, the oldest first.
func (s *Store) PostsOpen(ctx context.Context) ([]Post, error) {
	return s.posts(ctx, "open posts", ` WHERE p.sent = 0 ORDER BY p.n`)
}
