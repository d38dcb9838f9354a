package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime"
	"path"
	"strings"
	"time"

	"typist/agent"
)

// argsPiece is how much of a call's arguments comes with one event.
const argsPiece = 12

// callID names a call. A finished call is known by it (S4).
func (p *player) callID(n *node) string { return p.id("c", n) }

// write is the model writing a call.
func (p *player) write(s *scope, n *node) {
	p.ask(s, true)
	id := p.callID(n)
	p.emit(agent.ToolCallStarted{Sub: s.sub(), ID: id, Request: s.request, Name: n.name, Title: p.titles[n.name]})
	args := []rune(p.expand(n.args, true))
	for len(args) > 0 {
		k := min(argsPiece, len(args))
		p.emit(agent.ToolCallArgs{Sub: s.sub(), ID: id, Delta: string(args[:k])})
		args = args[k:]
	}
}

// execute makes a call: through the request's toolbox, whose guard knows what was executed before
// (S4), or, for a tool that only the script knows, by itself where the request has none.
func (p *player) execute(ctx context.Context, s *scope, n *node) error {
	call := agent.ToolCall{ID: p.callID(n), Subagent: s.area, Name: n.name, Args: agent.ToolArgs(p.expand(n.args, true))}
	box := p.req.Tools
	if n.word != "call" {
		plan := execution{time: n.time, result: agent.ToolResult{Content: p.expand(n.text, false), IsError: n.fails}}
		defer p.backend.toolbox.plan(call.ID, plan)()
		if box == nil {
			box = p.backend.toolbox
		}
	}
	if box == nil {
		return &agent.Failure{Kind: agent.Invalid, Detail: fmt.Sprintf("line %d of the script calls %s, and this backend has no tools; give it mcpServers", n.line, n.name)}
	}
	p.emit(agent.ToolCallEnded{Sub: s.sub(), ID: call.ID})
	result, err := box.Call(ctx, call)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result = agent.ToolResult{Content: "The tool could not be called: " + agent.Mask(err.Error()), IsError: true}
	}
	p.emit(agent.ToolCallResult{Sub: s.sub(), ID: call.ID, Content: result.Content, IsError: result.IsError})
	return nil
}

// quoteInner is the inside of s as a JSON string.
func quoteInner(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}

// produced makes the file of a file directive.
func produced(n *node, content string) (agent.FileProduced, error) {
	f := agent.FileProduced{Name: n.name, MIME: mime.TypeByExtension(path.Ext(n.name)), Data: []byte(content)}
	if len(n.options) > 0 {
		f.MIME = n.options[0]
	}
	if strings.HasSuffix(n.name, ".png") && content == "" {
		picture, err := drawPicture()
		if err != nil {
			return f, fmt.Errorf("draw %s: %w", n.name, err)
		}
		f.Data = picture
	}
	return f, nil
}

// drawPicture draws a small bar chart.
func drawPicture() ([]byte, error) {
	const width, height, bar = 320, 180, 40
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{R: 246, G: 247, B: 249, A: 255}
			if i := x / bar; x%bar > 6 && height-y < 30+i*18 {
				c = color.RGBA{R: uint8(40 + 20*i), G: 110, B: 200, A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var buf bytes.Buffer
	err := png.Encode(&buf, img)
	return buf.Bytes(), err
}

// execution is what a tool directive wants of the toolbox.
type execution struct {
	time   time.Duration
	result agent.ToolResult
}

func (e execution) run(ctx context.Context) (agent.ToolResult, error) {
	if err := sleep(ctx, e.time); err != nil {
		return agent.ToolResult{}, err
	}
	return e.result, nil
}
