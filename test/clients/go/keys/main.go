// Calls with keys and reports which of them read an event, or why one is refused, for a call and
// for a stream, and how many requests were made.
// Run by test/clients/go-client.test.ts: keys URL KEY…
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"connectrpc.com/connect"
	waggle "waggle.test/client"
	wagglev1 "waggle.test/client/gen/waggle/v1"
	"waggle.test/client/gen/waggle/v1/wagglev1connect"
)

type report struct {
	Calls    []string `json:"calls"`
	Streams  []string `json:"streams"`
	Requests int      `json:"requests"`
}

type counting struct{ count *int }

func (c counting) Do(request *http.Request) (*http.Response, error) {
	*c.count++
	return http.DefaultClient.Do(request)
}

func main() {
	ctx, url := context.Background(), os.Args[1]
	var got report
	over := counting{&got.Requests}
	for _, key := range os.Args[2:] {
		options := waggle.Options(waggle.Config{Key: key})
		events := wagglev1connect.NewEventServiceClient(over, url, options)
		_, err := events.GetEvent(ctx, connect.NewRequest(&wagglev1.GetEventRequest{EventId: "stored"}))
		got.Calls = append(got.Calls, outcomeOf(err))

		reader := wagglev1connect.NewExportServiceClient(over, url, options)
		stream, err := reader.StreamEvents(ctx, connect.NewRequest(&wagglev1.StreamEventsRequest{}))
		if err == nil {
			for stream.Receive() {
			}
			err = stream.Err()
		}
		got.Streams = append(got.Streams, outcomeOf(err))
	}
	line, _ := json.Marshal(got)
	fmt.Println(string(line))
}

func outcomeOf(err error) string {
	var failure *connect.Error
	switch {
	case err == nil:
		return "ok"
	case waggle.ReasonOf(err) != "":
		return waggle.ReasonOf(err)
	case errors.As(err, &failure) && failure.Code() == connect.CodeInvalidArgument:
		return failure.Message()
	default:
		return err.Error()
	}
}
