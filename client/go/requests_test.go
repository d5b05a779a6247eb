package lockstitch

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

func TestARequestThatIsUsedAgainIsAnotherChangeAndStaysAsItWas(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	request := said(sessionID, "hello")
	before := proto.Clone(request)
	for range 2 {
		answer, err := client.Sessions.Append(t.Context(), request)
		if err != nil || answer.GetReceipt().GetReplayed() {
			t.Fatal(answer, err)
		}
	}
	if !proto.Equal(request, before) {
		t.Errorf("%v was changed to %v", before, request)
	}
	if read := texts(t, client, sessionID); !slices.Equal(read, []string{"hello", "hello"}) {
		t.Error(read)
	}
}

func TestWhatIsSentForARequestHasAllOfIt(t *testing.T) {
	request := &lockstitchv1.AppendRequest{
		SessionId: "s1", ExpectedVersion: proto.Int64(0), Messages: []*lockstitchv1.Message{User("one"), Assistant("two")},
		MemoryChange: MergePatch("{}"), AllowOrphans: true,
	}
	request.ProtoReflect().SetUnknown([]byte{0xf8, 0x7f, 0x01}) // a field of a later version
	sent, requestID := withRequestID(request)
	fenced := withFence(sent, &lockstitchv1.Fence{RunId: "r1", FencingToken: 7}).(*lockstitchv1.AppendRequest)
	if len(requestID) != 32 || fenced.GetRequestId() != requestID || fenced.GetFence().GetFencingToken() != 7 {
		t.Error(fenced)
	}
	fenced.RequestId, fenced.Fence = "", nil
	if !proto.Equal(fenced, request) {
		t.Errorf("%v is not %v", fenced, request)
	}
}

func TestARequestOfTheCallersOwnIDKeepsIt(t *testing.T) {
	request := &lockstitchv1.AppendRequest{RequestId: "mine"}
	if sent, requestID := withRequestID(request); sent != proto.Message(request) || requestID != "mine" {
		t.Error(sent, requestID)
	}
	read := &lockstitchv1.GetSessionRequest{SessionId: "s1"}
	if sent, requestID := withRequestID(read); sent != proto.Message(read) || requestID != "" {
		t.Error(sent, requestID)
	}
}

func TestTextThatIsNotUTF8IsRefusedHere(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	_, err := client.Sessions.Append(t.Context(), said(sessionID, "\xff"))
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != codes.InvalidArgument || failure.RequestID == "" {
		t.Error(err)
	}
}
