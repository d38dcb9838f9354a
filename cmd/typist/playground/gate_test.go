package playground

import (
	"bufio"
	"io"
	"net"
	"testing"
)

func TestW4_AShutGateLetsNothingThrough(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	arrived := make(chan net.Conn, 1)
	go func() {
		for {
			c, err := target.Accept()
			if err != nil {
				return
			}
			arrived <- c
		}
	}()
	g, err := openGate(target.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := net.Dial("tcp", g.address())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if _, err := io.WriteString(near, "hello\n"); err != nil {
		t.Fatal(err)
	}
	far := <-arrived
	defer far.Close()
	if line, err := bufio.NewReader(far).ReadString('\n'); line != "hello\n" {
		t.Fatalf("%q arrived: %v", line, err)
	}
	g.close()
	if n, err := near.Read(make([]byte, 1)); err == nil {
		t.Errorf("the bot's end still reads %d bytes", n)
	}
	if n, err := far.Read(make([]byte, 1)); err == nil {
		t.Errorf("the platform's end still reads %d bytes", n)
	}
	if again, err := net.Dial("tcp", g.address()); err == nil {
		again.Close()
		t.Error("the gate lets somebody in after it was shut")
	}
}
