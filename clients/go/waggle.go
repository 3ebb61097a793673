// Package waggle connects to Waggle: key, deadlines, and retries of what may be repeated. Messages
// and services are in gen, generated from the contract; this file is written by hand.
package waggle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	wagglev1 "waggle.test/client/gen/waggle/v1"
)

//go:generate go build -o bin/ tool
//go:generate buf generate ../.. --template buf.gen.yaml --path ../../proto/waggle/v1 --path ../../proto/third_party/buf

// Config says how calls are made.
type Config struct {
	// Key is used without the white space around it. One that is then empty or has anything but
	// visible ASCII makes every call fail with CodeInvalidArgument, before anything is sent.
	Key string
	// Timeout is the longest time of a call with its retries; default one minute. The deadline of a
	// call's context takes its place. Streams have none by default.
	Timeout time.Duration
	// Retries is how often a call is sent again; default 3, negative for never.
	Retries int
}

const (
	keyHeader     = "Idempotency-Key"
	waitDefault   = time.Second
	timeoutUsual  = time.Minute
	retriesUsual  = 3
	retryAfterKey = "Retry-After"
)

// Options returns the option for the clients of gen/waggle/v1/wagglev1connect.
func Options(config Config) connect.ClientOption {
	if config.Timeout == 0 {
		config.Timeout = timeoutUsual
	}
	if config.Retries == 0 {
		config.Retries = retriesUsual
	}
	key, fault := checkedKey(config.Key)
	config.Key = key
	return connect.WithInterceptors(calls{config, fault})
}

// checkedKey returns the key without the white space around it, or why a header cannot carry it.
func checkedKey(key string) (string, error) {
	trimmed := strings.Trim(key, " \t\n\v\f\r")
	if trimmed == "" {
		return "", errors.New("key is empty: give an API key of Waggle")
	}
	for index := range len(trimmed) {
		if trimmed[index] < 0x21 || trimmed[index] > 0x7e {
			// Messages are logged, and the key is secret.
			return "", fmt.Errorf("key: character %d is not visible ASCII (0x21 to 0x7e): "+
				"give one key and nothing beside it", index+1)
		}
	}
	return trimmed, nil
}

// refusalOf returns an error of its own for each call, since a caller may add to its metadata.
func refusalOf(keyFault error) error {
	return connect.NewError(connect.CodeInvalidArgument, keyFault)
}

type calls struct {
	Config
	// keyFault says what is wrong with the key; nil where nothing is.
	keyFault error
}

// WrapUnary sends a call again after a failure that passes. All tries of a write have one
// Idempotency-Key, so that it takes effect once; without one (the caller sets an empty key), a
// write is sent once.
func (c calls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if c.keyFault != nil {
			return nil, refusalOf(c.keyFault)
		}
		header := request.Header()
		header.Set("Authorization", "Bearer "+c.Key)
		retries := c.Retries
		if request.Spec().IdempotencyLevel != connect.IdempotencyNoSideEffects {
			if len(header.Values(keyHeader)) == 0 {
				header.Set(keyHeader, rand.Text())
				// The caller may make another call with the same request, which is another write.
				defer header.Del(keyHeader)
			} else if header.Get(keyHeader) == "" {
				header.Del(keyHeader)
				defer header.Set(keyHeader, "")
				retries = 0
			}
		}
		if _, has := ctx.Deadline(); !has {
			limited, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			ctx = limited
		}
		deadline, _ := ctx.Deadline()
		for {
			response, err := next(ctx, request)
			err = faultOf(ctx, err)
			if err == nil || retries <= 0 || ctx.Err() != nil {
				return response, err
			}
			wait, passes := waitOf(err)
			if !passes || time.Now().Add(wait).After(deadline) {
				return response, err
			}
			retries--
			select {
			case <-ctx.Done():
				return response, err
			case <-time.After(wait):
			}
		}
	}
}

// WrapStreamingClient sends a stream once, since its reader has seen a part of it.
func (c calls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if c.keyFault != nil {
			return refusedConn{conn, refusalOf(c.keyFault)}
		}
		conn.RequestHeader().Set("Authorization", "Bearer "+c.Key)
		return sentConn{conn, ctx}
	}
}

// sentConn is a stream whose broken connection is CodeUnavailable.
type sentConn struct {
	connect.StreamingClientConn
	ctx context.Context
}

func (s sentConn) Receive(message any) error {
	return faultOf(s.ctx, s.StreamingClientConn.Receive(message))
}

// refusedConn is a stream that fails at once. Even to close one that was not used makes a request,
// and its response is waited for, so that none of these goes on to the stream itself.
type refusedConn struct {
	connect.StreamingClientConn
	fault error
}

func (r refusedConn) Send(any) error               { return r.fault }
func (r refusedConn) Receive(any) error            { return r.fault }
func (r refusedConn) CloseRequest() error          { return nil }
func (r refusedConn) CloseResponse() error         { return nil }
func (r refusedConn) ResponseHeader() http.Header  { return http.Header{} }
func (r refusedConn) ResponseTrailer() http.Header { return http.Header{} }

// WrapStreamingHandler is for servers.
func (c calls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// faultOf returns an error of a connection that broke as CodeUnavailable: connect-go calls a reset
// one canceled, and one that ended within an answer an internal fault. Other errors stay as they are.
func faultOf(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || connect.IsWireError(err) {
		return err
	}
	for _, broken := range []error{syscall.ECONNRESET, syscall.EPIPE, io.ErrUnexpectedEOF} {
		var failure *connect.Error
		if errors.Is(err, broken) && errors.As(err, &failure) {
			return connect.NewError(connect.CodeUnavailable, failure.Unwrap())
		}
	}
	return err
}

// waitOf returns how long to wait before a call is sent again, and whether that can help.
func waitOf(err error) (time.Duration, bool) {
	var failure *connect.Error
	if !errors.As(err, &failure) {
		return 0, false
	}
	reason := ReasonOf(err)
	// An earlier try still runs; its answer is kept for the next one.
	if reason == "IDEMPOTENCY_IN_FLIGHT" {
		return waitDefault, true
	}
	code := failure.Code()
	seconds, fault := strconv.ParseUint(failure.Meta().Get(retryAfterKey), 10, 31)
	if fault == nil && (code == connect.CodeUnavailable || code == connect.CodeResourceExhausted) {
		return time.Duration(seconds) * time.Second, true
	}
	// Without a reason, the service was not reached.
	return waitDefault, reason == "" && code == connect.CodeUnavailable
}

// ReasonOf returns the reason of a refusal, such as NOT_FOUND; empty if the service gave none.
func ReasonOf(err error) string {
	for info := range detailsOf[*errdetails.ErrorInfo](err) {
		return info.GetReason()
	}
	return ""
}

// FieldsOf returns the fields that a refusal names, each with what is wrong.
func FieldsOf(err error) []*errdetails.BadRequest_FieldViolation {
	for bad := range detailsOf[*errdetails.BadRequest](err) {
		return bad.GetFieldViolations()
	}
	return nil
}

func detailsOf[Detail proto.Message](err error) iter.Seq[Detail] {
	return func(yield func(Detail) bool) {
		var failure *connect.Error
		if !errors.As(err, &failure) {
			return
		}
		for _, detail := range failure.Details() {
			value, _ := detail.Value()
			if found, is := value.(Detail); is && !yield(found) {
				return
			}
		}
	}
}

// Pages follows next_cursor and yields each page of a list, from the one that is asked for, or the
// error that ends it.
func Pages[Request, Page any, PagePointer interface {
	*Page
	GetNextCursor() string
}, RequestPointer interface {
	*Request
	proto.Message
}](
	ctx context.Context,
	list func(context.Context, *connect.Request[Request]) (*connect.Response[Page], error),
	request RequestPointer,
) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		asked := proto.CloneOf(request)
		message := asked.ProtoReflect()
		fields := message.Descriptor().Fields()
		for {
			answer, err := list(ctx, connect.NewRequest((*Request)(asked)))
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(answer.Msg, nil) {
				return
			}
			cursor := PagePointer(answer.Msg).GetNextCursor()
			if cursor == "" {
				return
			}
			// The service takes a number or a cursor, not both.
			if number := fields.ByName("page"); number != nil {
				message.Clear(number)
			}
			message.Set(fields.ByName("cursor"), protoreflect.ValueOfString(cursor))
		}
	}
}

// Where returns a filter: a field, an operator and a value. `exists` takes none, and `is` null takes
// structpb.NewNullValue(): write the Filter.
func Where[Value string | int | float64 | bool](field, operator string, value Value) *wagglev1.Filter {
	filter := &wagglev1.Filter{Field: field, Operator: operator}
	switch value := any(value).(type) {
	case string:
		filter.Value = structpb.NewStringValue(value)
	case int:
		filter.Value = structpb.NewNumberValue(float64(value))
	case float64:
		filter.Value = structpb.NewNumberValue(value)
	case bool:
		filter.Value = structpb.NewBoolValue(value)
	}
	return filter
}
