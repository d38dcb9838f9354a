package playground_test

// stage is what the agent plays in most tests: short pieces.
const stage = `
on "quick":
  think 1200ms: A short thought.
  say 100ms: Here is the **answer**.

on "work":
  think 300ms: First I look around.
  step Build
  say 200ms: I begin.
  tool 2500ms Bash {"command":"make","description":"Build with tests"} => ok
  end-step
  say 400ms: All **built**:
  |
  | ` + "```go" + `
  | fmt.Println("done")
  | ` + "```" + `

on "long":
  say 100ms: The beginning.
  tool 30s Bash {"command":"sleep","description":"Wait for the tide"} => ok
  say 100ms: The end.

on "river in (\w+)":
  think 200ms: I look at the map.
  say 200ms: {{input}}: the longest one.

on "silent":
  think 500ms: Not for me.
  silence

on "heartbeat":
  think 800ms: Is there something?
  say: All disks are fine, one is at 91 %.

on "markup":
  say 100ms: Some <b>HTML</b> & [a link](https://example.org/) and <script>window.broken = 1</script>

otherwise:
  say: You wrote: {{input}}
`

// stageConfig makes things happen soon.
const stageConfig = "backends: {own: {type: script, file: script.txt}}\nprogress: {delaySeconds: 0.4}\n"
