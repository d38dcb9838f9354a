package main

import "net"

// notify tells systemd the state of the service (sd_notify(3)), where systemd has asked for it.
func notify(getenv func(string) (string, bool), state string) {
	path, ok := getenv("NOTIFY_SOCKET")
	if !ok || path == "" {
		return
	}
	if path[0] == '@' { // an abstract socket
		path = "\x00" + path[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return // nobody listens: no reason to fail
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
