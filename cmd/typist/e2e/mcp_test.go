package e2e

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolServerEnv makes the test binary, started again, a tool server that speaks over stdio and
// appends what it executes to the file that the variable names.
const toolServerEnv = "TYPIST_E2E_TOOLS"

// toolServer configures the test binary as the tool server "files" of the backend "main".
func toolServer(record string, approve bool) string {
	return fmt.Sprintf("mcpServers:\n  files: {command: [%q], env: {%s: %q}, approve: %t}", os.Args[0], toolServerEnv, record, approve)
}

func serveTools(file string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "remove", Title: "Remove a file", Description: "Removes a file"},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Path string `json:"path"`
		}) (*mcp.CallToolResult, any, error) {
			f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, nil, err
			}
			defer f.Close()
			if _, err := fmt.Fprintln(f, in.Path); err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "removed " + in.Path}}}, nil, nil
		})
	return server.Run(context.Background(), &mcp.StdioTransport{})
}
