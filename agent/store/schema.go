package store

import (
	"fmt"
)

// migrations bring an older file up to date, one after the other; PRAGMA user_version counts
// those that were done. A released one is never changed: what is new goes into a new one.
var migrations = []string{schema1}

// schema1. Rows name a chat by chats.id. A node's pos is its segment << 32 + its place there:
// a stretch of the tree without branches is one segment and lies together on disk, so that a
// path of 10,000 turns is read in order and not by 10,000 look-ups (S1). spans say where in a
// chat's events a run's are, so that events need no second index. n is the
// order in which rows were made; a node's is that within its chat, counted in chats.nodes.
const schema1 = `
CREATE TABLE chats (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL DEFAULT '',
	name TEXT NOT NULL DEFAULT '',
	leaf BIGINT NOT NULL DEFAULT 0,
	nodes BIGINT NOT NULL DEFAULT 0,
	seq BIGINT NOT NULL DEFAULT 0,
	active_at BIGINT NOT NULL DEFAULT 0);
CREATE TABLE last_chats (agent TEXT PRIMARY KEY, chat BIGINT NOT NULL, at BIGINT NOT NULL);
CREATE TABLE inbox (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	channel TEXT NOT NULL,
	event_id TEXT,
	chat BIGINT NOT NULL,
	message TEXT NOT NULL,
	kind TEXT NOT NULL,
	payload BLOB NOT NULL,
	state TEXT NOT NULL,
	run TEXT NOT NULL DEFAULT '',
	at BIGINT NOT NULL,
	UNIQUE (channel, event_id));
CREATE INDEX inbox_open ON inbox (chat, id) WHERE state IN ('waiting', 'running');
CREATE INDEX inbox_done ON inbox (at) WHERE state IN ('done', 'dropped');
CREATE TABLE seen (channel TEXT NOT NULL, event_id TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (channel, event_id));
CREATE INDEX seen_at ON seen (at);
CREATE TABLE nodes (
	pos INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	chat BIGINT NOT NULL,
	parent BIGINT NOT NULL,
	run TEXT NOT NULL,
	role TEXT NOT NULL,
	message BLOB NOT NULL,
	incomplete SMALLINT NOT NULL,
	at BIGINT NOT NULL,
	n BIGINT NOT NULL);
CREATE INDEX nodes_children ON nodes (chat, parent, pos);
CREATE INDEX nodes_run ON nodes (run, pos);
CREATE TABLE refs (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	chat BIGINT NOT NULL,
	message TEXT NOT NULL,
	node BIGINT NOT NULL);
CREATE INDEX refs_message ON refs (chat, message, n);
CREATE INDEX refs_node ON refs (node, n);
CREATE TABLE runs (
	n INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	chat BIGINT NOT NULL,
	node TEXT NOT NULL,
	backend TEXT NOT NULL,
	state TEXT NOT NULL,
	progress TEXT NOT NULL,
	progress_key TEXT NOT NULL,
	anchor TEXT NOT NULL,
	indicator SMALLINT NOT NULL,
	failure TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL);
CREATE INDEX runs_chat ON runs (chat, n);
CREATE INDEX runs_state ON runs (state, n);
CREATE INDEX runs_progress ON runs (chat, progress) WHERE progress <> '';
CREATE TABLE answers (run TEXT NOT NULL, part BIGINT NOT NULL, chat BIGINT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (run, part));
CREATE INDEX answers_message ON answers (chat, message);
CREATE TABLE posts (
	n INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	chat BIGINT NOT NULL,
	run TEXT NOT NULL,
	purpose TEXT NOT NULL,
	part BIGINT NOT NULL,
	body BLOB NOT NULL,
	message TEXT NOT NULL,
	sent SMALLINT NOT NULL,
	at BIGINT NOT NULL);
CREATE INDEX posts_run ON posts (run, n);
CREATE INDEX posts_sent ON posts (sent, at);
CREATE TABLE tools (
	n INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	run TEXT NOT NULL,
	call_id TEXT NOT NULL,
	args BLOB NOT NULL,
	result BLOB,
	at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL);
CREATE INDEX tools_run ON tools (run, n);
CREATE INDEX tools_ended ON tools (ended_at);
CREATE TABLE spans (
	id INTEGER PRIMARY KEY,
	run TEXT NOT NULL,
	chat BIGINT NOT NULL,
	first BIGINT NOT NULL,
	last BIGINT NOT NULL,
	bytes BIGINT NOT NULL,
	at BIGINT NOT NULL,
	UNIQUE (run, chat));
CREATE INDEX spans_at ON spans (at);
CREATE TABLE events (
	chat BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	span BIGINT NOT NULL,
	at BIGINT NOT NULL,
	event BLOB NOT NULL,
	PRIMARY KEY (chat, seq)) WITHOUT ROWID;
CREATE TABLE settings (chat BIGINT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (chat, name));
CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE slots (name TEXT NOT NULL, slot TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (name, slot));
CREATE INDEX slots_at ON slots (at);
`

func newer(version int) error {
	return &Error{Kind: ErrNewer, Sentence: fmt.Sprintf("The store was written by a newer typist (schema %d, this one knows %d): use that version, or another dataDir.", version, len(migrations))}
}

// migrate brings the schema up to date in one transaction: a crash leaves the old one.
func migrate(c *conn) error {
	var version int
	if _, err := c.row("PRAGMA user_version", nil, &version); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if version > len(migrations) {
		return newer(version)
	}
	if version == len(migrations) {
		// Reading a table finds a file that is damaged beyond its first page.
		var n int
		_, err := c.row("SELECT COUNT(*) FROM inbox WHERE state IN ('waiting', 'running')", nil, &n)
		return err
	}
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for i, text := range migrations[version:] {
		if err := c.script(text); err != nil {
			_, _ = c.exec("ROLLBACK")
			return fmt.Errorf("schema %d: %w", version+i+1, err)
		}
	}
	if err := c.script(fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		_, _ = c.exec("ROLLBACK")
		return err
	}
	_, err := c.exec("COMMIT")
	return err
}
