// Calls a server that breaks connections and reports how calls and streams ended.
// Run by test/clients/go-client.test.ts: broken
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"connectrpc.com/connect"
	waggle "waggle.test/client"
	wagglev1 "waggle.test/client/gen/waggle/v1"
	"waggle.test/client/gen/waggle/v1/wagglev1connect"
)

// Answers that end before they are complete.
var heads = map[string]string{
	"reset":        "",
	"half":         "Content-Type: application/proto\r\nContent-Length: 100\r\n\r\n\n\x01a",
	"half-grpc":    "Content-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\x00\x00\x00\r\n",
	"half-stream":  "Content-Type: application/connect+proto\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\x00\x00\x00\r\n",
	"reset-stream": "",
}

func main() {
	report := map[string]string{}
	for name, head := range heads {
		report[name] = outcomeOf(name, head)
	}
	line, _ := json.Marshal(report)
	fmt.Println(string(line))
}

func outcomeOf(name, head string) string {
	var tries atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		conn, buffered, _ := writer.(http.Hijacker).Hijack()
		if head == "" {
			// Without a wait for what is not read, the peer gets a reset.
			_ = conn.(*net.TCPConn).SetLinger(0)
		} else {
			_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\n" + head)
			_ = buffered.Flush()
		}
		_ = conn.Close()
	}))
	defer server.Close()
	options := []connect.ClientOption{waggle.Options(waggle.Config{Key: "key", Retries: 1})}
	if name == "half-grpc" {
		options = append(options, connect.WithGRPC())
	}
	return fmt.Sprint(connect.CodeOf(send(name, server.URL, options)), " ", tries.Load())
}

func send(name, url string, options []connect.ClientOption) error {
	ctx := context.Background()
	if name == "half-stream" || name == "reset-stream" {
		reader := wagglev1connect.NewExportServiceClient(http.DefaultClient, url, options...)
		stream, err := reader.StreamEvents(ctx, connect.NewRequest(&wagglev1.StreamEventsRequest{}))
		if err != nil {
			return err
		}
		for stream.Receive() {
		}
		return stream.Err()
	}
	events := wagglev1connect.NewEventServiceClient(http.DefaultClient, url, options...)
	_, err := events.CreateEvent(ctx, connect.NewRequest(&wagglev1.CreateEventRequest{}))
	return err
}
