// Sends events that the stand-in refuses and reports how each call ended.
// Run by test/clients/go-client.test.ts: outcomes URL CUT_URL KEY ID…
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	waggle "waggle.test/client"
	wagglev1 "waggle.test/client/gen/waggle/v1"
	"waggle.test/client/gen/waggle/v1/wagglev1connect"
)

var keys = map[string]string{"own-key": "mine", "no-key": ""}

func main() {
	url, cutURL, ids := os.Args[1], os.Args[2], os.Args[4:]
	options := waggle.Options(waggle.Config{Key: os.Args[3]})
	outcomes := map[string]string{}
	var group sync.WaitGroup
	var lock sync.Mutex
	for _, id := range ids {
		group.Go(func() {
			to := url
			if id == "cut" {
				to = cutURL
			}
			outcome := outcomeOf(send(to, id, options))
			lock.Lock()
			defer lock.Unlock()
			outcomes[id] = outcome
		})
	}
	group.Wait()
	line, _ := json.Marshal(outcomes)
	fmt.Println(string(line))
}

func send(url, id string, options connect.ClientOption) error {
	ctx := context.Background()
	events := wagglev1connect.NewEventServiceClient(http.DefaultClient, url, options)
	switch id {
	case "read":
		_, err := events.GetEvent(ctx, connect.NewRequest(&wagglev1.GetEventRequest{EventId: id}))
		return err
	case "stream":
		reader := wagglev1connect.NewExportServiceClient(http.DefaultClient, url, options)
		stream, err := reader.StreamEvents(ctx, connect.NewRequest(&wagglev1.StreamEventsRequest{}))
		if err != nil {
			return err
		}
		for stream.Receive() {
		}
		return stream.Err()
	case "slow":
		limited, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	request := connect.NewRequest(&wagglev1.CreateEventRequest{
		Event: &wagglev1.Event{EventId: proto.String(id), EventType: proto.String("tool")},
	})
	if key, has := keys[id]; has {
		request.Header().Set("Idempotency-Key", key)
	}
	if id == "again" {
		if _, err := events.CreateEvent(ctx, request); err != nil {
			return err
		}
	}
	_, err := events.CreateEvent(ctx, request)
	return err
}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case connect.CodeOf(err) == connect.CodeDeadlineExceeded:
		return "deadline"
	case waggle.ReasonOf(err) != "":
		return waggle.ReasonOf(err)
	default:
		return err.Error()
	}
}
