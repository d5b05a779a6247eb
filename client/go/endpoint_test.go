package lockstitch

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

func TestPlainTextIsForTargetsThatCannotLeaveTheMachine(t *testing.T) {
	for target, local := range map[string]bool{
		"127.0.0.1:50051": true, "127.8.9.1": true, "localhost:1": true, "LOCALHOST": true, "[::1]:50051": true, "::1": true,
		"[::ffff:127.0.0.1]:1": true, "dns:///localhost:50051": true, "dns:127.0.0.1:1": true, "unix:/run/lockstitch": true,
		"unix-abstract:lockstitch": true, "passthrough:///127.0.0.1:1": true,
		"10.0.0.1:50051": false, "example.org:443": false, "localhost.example.org:443": false, "[2001:db8::1]:50051": false,
		"dns:///example.org:443": false, "dns://127.0.0.1/example.org:443": false, "": false, "0.0.0.0:1": false,
	} {
		if isLocal(target) != local {
			t.Errorf("%q is local: %v", target, !local)
		}
		protocol := securityOf(target, Options{}).Info().SecurityProtocol
		if secured := protocol == "tls"; secured == local {
			t.Errorf("%q: %s", target, protocol)
		}
	}
	if protocol := securityOf("example.org:443", Options{Plaintext: true}).Info().SecurityProtocol; protocol != "insecure" {
		t.Error(protocol)
	}
}

func TestATokenIsAskedForAtEachAttempt(t *testing.T) {
	tenant := "tenant-" + NewRequestID()
	asked := 0
	source := func(context.Context) (string, error) {
		asked++
		return tokenOf(t, tenant), nil
	}
	client, sessionID := connected(t, "between_target", Options{TokenSource: source})
	theTestbed.must(t, "fail_next", map[string]any{"method": "Append", "times": 2})
	if _, err := client.Sessions.Append(t.Context(), said(sessionID, "hello")); err != nil || asked != 4 {
		t.Error(asked, err)
	}
}

func TestATokenThatCannotBeHadOrSentEndsTheCall(t *testing.T) {
	lost := errors.New("the vault is closed")
	for _, one := range []struct {
		options Options
		code    codes.Code
		cause   error
	}{
		{Options{TokenSource: func(context.Context) (string, error) { return "", lost }}, codes.Unauthenticated, lost},
		{Options{Token: "two\nlines"}, codes.InvalidArgument, nil},
		{Options{Token: "é"}, codes.InvalidArgument, nil},
	} {
		client, err := Connect(theTestbed.targets["target"], one.options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Sessions.ListSessions(t.Context(), &lockstitchv1.ListSessionsRequest{})
		if status.Code(err) != one.code || one.cause != nil && !errors.Is(err, one.cause) {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAClientThatIsClosedRefusesCalls(t *testing.T) {
	client, sessionID := connected(t, "target", Options{})
	subscription := client.Subscribe(t.Context(), &lockstitchv1.SubscribeRequest{SessionId: sessionID})
	for range 3 { // opened, the creation, caught_up
		if _, err := subscription.Next(); err != nil {
			t.Fatal(err)
		}
	}
	waiting := make(chan error)
	go func() {
		_, err := subscription.Next()
		waiting <- err
	}()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	if _, err := client.Sessions.Append(t.Context(), said(sessionID, "hello")); status.Code(err) != codes.Canceled {
		t.Error(err)
	}
	if _, err := client.Sessions.StreamDraft(t.Context()); status.Code(err) != codes.Canceled {
		t.Error(err)
	}
}
