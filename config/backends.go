package config

// Backend is something that answers (A2). Which fields count depends on Type.
type Backend struct {
	Type       string            // script, openai, anthropic, acp, agui
	File       string            // script: path of the script, absolute; "" = the built-in demo
	BaseURL    string            // openai, anthropic; "" = the vendor's own
	APIKey     string            // openai, anthropic
	Model      string            // openai, anthropic
	MaxTokens  int               // openai (0 = the server's own), anthropic
	Headers    map[string]string // openai, anthropic, agui: sent with every request
	Command    []string          // acp: program and arguments of the agent
	Env        map[string]string // acp: added to typist's own environment
	Cwd        string            // acp: working directory, absolute; "" = typist's own
	URL        string            // agui: the agent's endpoint
	CancelURL  string            // agui: called when a run is stopped; "" = nothing is
	MCPServers []string          // names in mcpServers
	Record     string            // script: file to which every tool execution is appended, absolute; "" = none
}

// backendTypes are all kinds of backends.
var backendTypes = []string{"script", "openai", "anthropic", "acp", "agui"}

func (b *Backend) fields() []field {
	models := []string{"openai", "anthropic"}
	return []field{
		enum("type", &b.Type, backendTypes, "Kind of backend: a script for demos and tests, an OpenAI-compatible server, Anthropic, an agent that is a program (ACP), a remote agent (AG-UI).").must(),
		text("file", &b.File, "Script to play. Relative to the config file.").shown("a built-in demo").only("script"),
		text("baseURL", &b.BaseURL, "Address of the API, such as `http://127.0.0.1:11434/v1`.").check(checkURL).shown("the vendor's own").only(models...),
		text("apiKey", &b.APIKey, "API key.").masked().only(models...),
		text("model", &b.Model, "Model.").must().only(models...),
		integer("maxTokens", &b.MaxTokens, 0, "Longest answer of a model request, in tokens.").shown("the server's own").only(models...),
		texts("headers", &b.Headers, "Extra HTTP headers.").masked().only("openai", "anthropic", "agui"),
		list("command", &b.Command, "Program and arguments of an agent that speaks the Agent Client Protocol over stdio.").must().nonEmpty().only("acp"),
		texts("env", &b.Env, "Environment variables for the program.").masked().only("acp"),
		text("cwd", &b.Cwd, "Directory that the agent works in. Relative to the config file.").shown("typist's own").only("acp"),
		text("url", &b.URL, "Endpoint of an agent that speaks AG-UI.").check(checkURL).must().only("agui"),
		text("cancelURL", &b.CancelURL, "Address to call when a run is stopped, with `{threadId}` and `{runId}` in it replaced. Without it the stream is closed.").check(checkURL).only("agui"),
		list("mcpServers", &b.MCPServers, "Tool servers that it may use. An ACP agent connects to them itself."),
		text("record", &b.Record, "File to which every execution of a tool is appended, one JSON line each. Relative to the config file.").only("script"),
	}
}

// MCPServer is a tool server, started as a process or reached by HTTP (A3). Exactly one of
// Command and URL is set.
type MCPServer struct {
	Command []string          // stdio
	Env     map[string]string // stdio: added to typist's own environment
	URL     string            // streamable HTTP
	Headers map[string]string // streamable HTTP
	Approve bool              // each call needs a person's approval (A4)
}

func (m *MCPServer) fields() []field {
	return []field{
		list("command", &m.Command, "Program and arguments of a server that speaks over stdio."),
		texts("env", &m.Env, "Environment variables for the program.").masked(),
		text("url", &m.URL, "Address of a server that speaks streamable HTTP.").check(checkURL),
		texts("headers", &m.Headers, "Extra HTTP headers.").masked(),
		boolean("approve", &m.Approve, "Each call of its tools waits for a person's approval."),
	}
}
