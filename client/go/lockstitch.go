// Package lockstitch is the client of lockstitch, a durable session store for AI agents.
//
// A [Client] has the generated stubs of every service, over a connection that does what they can't: it fills in a
// request_id and repeats it on every retry, retries what was not answered, and makes an error of its own type of each
// reason. [Client.Subscribe] follows a session and resumes by itself; [Client.Run] holds a run, renews it and fences
// what is written under it; [Client.CheckServer] tells a server that is too old or too new apart.
//
//	client, err := lockstitch.Connect("127.0.0.1:50051", lockstitch.Options{Token: token})
//	created, err := client.Sessions.CreateSession(ctx, &lockstitchv1.CreateSessionRequest{UserId: "u1"})
package lockstitch

import (
	"context"
	"crypto/tls"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// DefaultTimeout is how long a call may take where nobody says.
const DefaultTimeout = 10 * time.Second

// Options say how to speak to a server. The zero value speaks without a token.
type Options struct {
	// Token says who calls. Empty where TokenSource does, or the certificate of the connection.
	Token string
	// TokenSource gives a token for each attempt, so that none has expired. It may be called from many goroutines at
	// once. Defaults to giving Token.
	TokenSource func(ctx context.Context) (string, error)
	// TLS is how the connection is secured. Defaults to the machine's own roots, and to plain text where the target
	// can't leave the machine: a loopback address, localhost, a Unix socket.
	TLS *tls.Config
	// Plaintext speaks without TLS to a target that can leave the machine: whoever is on the way reads the token and
	// all that is said. Defaults to false.
	Plaintext bool
	// Timeout is how long a call may take whose context has no deadline, all its attempts together, and how long the
	// first opening of a subscription may take. Defaults to DefaultTimeout.
	Timeout time.Duration
}

// Client calls one server. It is safe for use by many goroutines at once, and has one connection for all of them.
//
// The stubs take the requests as they are on the wire. A request is never changed: where it has no request_id, a copy
// of it is sent that has one. A context's deadline is the time of all attempts together.
type Client struct {
	// Sessions, Runs, Checkpoints and Admin are the services of the server.
	Sessions    lockstitchv1.SessionServiceClient
	Runs        lockstitchv1.RunServiceClient
	Checkpoints lockstitchv1.CheckpointServiceClient
	Admin       lockstitchv1.AdminServiceClient

	transport *transport
}

// Connect makes a client of the server at a gRPC target, such as "127.0.0.1:50051" or "dns:///lockstitch.example:443".
// The connection is made with the first call, and again whenever it was lost. Close ends it.
func Connect(target string, options Options) (*Client, error) {
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	line, err := openLine(target, options)
	if err != nil {
		return nil, err
	}
	over := &transport{line: line, token: options.tokenSource(), timeout: options.Timeout, budget: newBudget()}
	return &Client{
		Sessions:    lockstitchv1.NewSessionServiceClient(over),
		Runs:        lockstitchv1.NewRunServiceClient(over),
		Checkpoints: lockstitchv1.NewCheckpointServiceClient(over),
		Admin:       lockstitchv1.NewAdminServiceClient(over),
		transport:   over,
	}, nil
}

// Close ends the connection, and with it what is under way: calls, subscriptions and the renewing of runs, which end
// as canceled. Later calls are refused likewise.
func (c *Client) Close() error {
	return c.transport.line.close()
}

func (o Options) tokenSource() func(context.Context) (string, error) {
	if o.TokenSource != nil {
		return o.TokenSource
	}
	return func(context.Context) (string, error) { return o.Token, nil }
}

// errClosed is what a client that was closed answers.
func errClosed(requestID string) error {
	return &Error{Code: codes.Canceled, Message: "The client is closed.", RequestID: requestID}
}
