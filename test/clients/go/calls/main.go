// Calls the service through the client of clients/go, over each protocol of connect-go, and reports
// what it saw. Run by test/clients/go-client.test.ts: calls URL KEY
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	client "waggle.test/client"
	waggle "waggle.test/client/gen/waggle/v1"
	"waggle.test/client/gen/waggle/v1/wagglev1connect"
)

type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

type report struct {
	Session        json.RawMessage `json:"session"`
	Created        json.RawMessage `json:"created"`
	Page           json.RawMessage `json:"page"`
	SecondAndLater []string        `json:"second_and_later"`
	StreamSize     int             `json:"stream_size"`
	StreamEnd      int32           `json:"stream_end"`
	NoType         refusal         `json:"no_type"`
	Absent         refusal         `json:"absent"`
	NoKey          refusal         `json:"no_key"`
}

func main() {
	url, key := os.Args[1], os.Args[2]
	reports := map[string]report{}
	for name, options := range map[string][]connect.ClientOption{
		"connect":      {},
		"connect-json": {connect.WithProtoJSON()},
		"connect-gzip": {connect.WithSendGzip()},
		"grpc":         {connect.WithGRPC()},
		"grpc-web":     {connect.WithGRPCWeb()},
	} {
		got, err := call(url, key, name, options)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		reports[name] = got
	}
	line, err := json.Marshal(reports)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// HTTP/2 without TLS, which gRPC needs; the service takes every protocol on it.
func httpClient() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

func call(url, key, source string, options []connect.ClientOption) (got report, err error) {
	ctx := context.Background()
	over := httpClient()
	keyed := append([]connect.ClientOption{client.Options(client.Config{Key: key})}, options...)
	sessions := wagglev1connect.NewSessionServiceClient(over, url, keyed...)
	events := wagglev1connect.NewEventServiceClient(over, url, keyed...)
	exports := wagglev1connect.NewExportServiceClient(over, url, keyed...)

	session, err := sessions.StartSession(ctx, connect.NewRequest(&waggle.StartSessionRequest{
		Session: &waggle.SessionStart{SessionName: proto.String("go"), Source: &source},
	}))
	if err != nil {
		return got, err
	}
	got.Session = toJSON(session.Msg)

	created, err := events.CreateEventBatch(ctx, connect.NewRequest(batchOf(session.Msg.SessionId, source)))
	if err != nil {
		return got, err
	}
	got.Created = toJSON(created.Msg)

	filters := []*waggle.Filter{client.Where("session_id", "is", session.Msg.SessionId)}
	page, err := exports.ExportEvents(ctx, connect.NewRequest(&waggle.ExportEventsRequest{
		Filters:     filters,
		Projections: []string{"event_name", "inputs", "start_time", "duration"},
	}))
	if err != nil {
		return got, err
	}
	got.Page = toJSON(page.Msg)

	paged := &waggle.ExportEventsRequest{Filters: filters, Limit: proto.Int32(1), Page: proto.Int32(2)}
	for page, err := range client.Pages(ctx, exports.ExportEvents, paged) {
		if err != nil {
			return got, err
		}
		for _, event := range page.Events {
			got.SecondAndLater = append(got.SecondAndLater, event.GetEventId())
		}
	}

	stream, err := exports.StreamEvents(ctx, connect.NewRequest(&waggle.StreamEventsRequest{Filters: filters}))
	if err != nil {
		return got, err
	}
	for stream.Receive() {
		if end := stream.Msg().GetEnd(); end != nil {
			got.StreamEnd = end.Count
		} else {
			got.StreamSize++
		}
	}
	if err := stream.Err(); err != nil {
		return got, err
	}

	inputs, _ := structpb.NewStruct(map[string]any{"question": "?"})
	_, err = events.CreateEvent(ctx, connect.NewRequest(&waggle.CreateEventRequest{
		Event: &waggle.Event{Inputs: inputs},
	}))
	got.NoType = refusalOf(err)
	absent := &waggle.GetEventRequest{EventId: "absent"}
	_, err = events.GetEvent(ctx, connect.NewRequest(absent))
	got.Absent = refusalOf(err)
	_, err = wagglev1connect.NewEventServiceClient(over, url, options...).GetEvent(ctx, connect.NewRequest(absent))
	got.NoKey = refusalOf(err)
	return got, nil
}

func batchOf(sessionID, source string) *waggle.CreateEventBatchRequest {
	batch := &waggle.CreateEventBatchRequest{}
	for index, eventType := range []string{"model", "tool", "walk"} {
		inputs, _ := structpb.NewStruct(map[string]any{"index": index, "list": []any{1, "two", nil, true}})
		batch.Events = append(batch.Events, &waggle.Event{
			SessionId: &sessionID,
			EventName: proto.String(fmt.Sprintf("step %d", index)),
			EventType: proto.String(eventType),
			Source:    &source,
			Inputs:    inputs,
			StartTime: proto.Float64(1_700_000_000_000 + float64(index)),
			Duration:  proto.Float64(1.5),
		})
	}
	return batch
}

func refusalOf(err error) refusal {
	var failure *connect.Error
	if !errors.As(err, &failure) {
		return refusal{Code: "ok"}
	}
	return refusal{failure.Code().String(), failure.Message(), client.ReasonOf(err)}
}

func toJSON(message proto.Message) json.RawMessage {
	bytes, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err != nil {
		panic(err)
	}
	return bytes
}
