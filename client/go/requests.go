package lockstitch

import (
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// NewRequestID makes an id that nobody used before: 128 random bits. Whoever keeps one with the change that it is for
// can send it again after a crash, and the change is made once.
func NewRequestID() string {
	var drawn [16]byte
	_, _ = rand.Read(drawn[:]) // it never fails
	return hex.EncodeToString(drawn[:])
}

// withRequestID gives what is sent for a request, and its request_id: "" where requests of its kind have none.
func withRequestID(request proto.Message) (proto.Message, string) {
	fields := request.ProtoReflect()
	field := fields.Descriptor().Fields().ByName("request_id")
	if field == nil || field.Kind() != protoreflect.StringKind {
		return request, ""
	}
	if given := fields.Get(field).String(); given != "" {
		return request, given
	}
	requestID := NewRequestID()
	return withField(fields, field, protoreflect.ValueOfString(requestID)), requestID
}

// withFence gives what is sent for a request that is made under a run.
func withFence(request proto.Message, fence *lockstitchv1.Fence) proto.Message {
	fields := request.ProtoReflect()
	field := fields.Descriptor().Fields().ByName("fence")
	if field == nil || field.Kind() != protoreflect.MessageKind || field.Message() != fence.ProtoReflect().Descriptor() {
		return request
	}
	return withField(fields, field, protoreflect.ValueOfMessage(fence.ProtoReflect()))
}

// withField copies a message with another value of one field. What lies in the other fields is shared, not copied:
// a caller's own message stays as it is, and may hold 3 MiB.
func withField(from protoreflect.Message, field protoreflect.FieldDescriptor, value protoreflect.Value) proto.Message {
	made := from.New()
	from.Range(func(one protoreflect.FieldDescriptor, held protoreflect.Value) bool {
		made.Set(one, held)
		return true
	})
	made.SetUnknown(from.GetUnknown())
	made.Set(field, value)
	return made.Interface()
}

// refusedHere gives the error of a request that could not be sent, such as for text that is not UTF-8: gRPC calls that
// INTERNAL, which is a bug of a server's.
func refusedHere(request proto.Message, err error) error {
	failure, failed := asError(err)
	if !failed || failure.Code != codes.Internal || failure.Reason != "" {
		return err
	}
	if _, unfit := proto.Marshal(request); unfit != nil {
		return &Error{Code: codes.InvalidArgument, Message: unfit.Error(), RequestID: failure.RequestID, cause: unfit, isOwn: true}
	}
	return err
}
