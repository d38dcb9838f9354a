// Package bench measures the built program against the miniature platforms: how soon the indicator
// shows, how well it is kept in thousands of chats, what it costs, and that nothing is lost in a
// long run of random traffic and faults. The tests are short versions with bounds that hold on a
// busy machine; the benchmarks print the figures of the README:
//
//	go test ./cmd/typist/bench -run '^$' -bench . -benchtime 1x -timeout 30m
//	go test ./cmd/typist/bench -run Soak -soak 30m -timeout 40m -v
package bench
