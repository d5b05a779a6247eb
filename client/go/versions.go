package lockstitch

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// Within a major version the wire only grows, so a server fits from the first of these on, and before the second.
const (
	ServerFrom   = "0.1.0"
	ServerBefore = "1.0.0"
)

type (
	// ServerTooOldError is a server that lacks what this client calls: upgrade the server.
	ServerTooOldError struct{ *failure }
	// ServerTooNewError is a server of a later major version: upgrade the client.
	ServerTooNewError struct{ *failure }
)

// What stands behind "-" or "+" does not count.
var versionText = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$`)

// CheckServer makes sure that this client fits the server, and gives what the server says of itself. For engines and
// admins. It fails with a [ServerTooOldError] or a [ServerTooNewError].
func (c *Client) CheckServer(ctx context.Context) (*lockstitchv1.GetServerInfoResponse, error) {
	info, err := c.Admin.GetServerInfo(ctx, &lockstitchv1.GetServerInfoRequest{})
	if err != nil {
		return nil, err
	}
	return info, refuseOtherVersions(info.GetVersion())
}

func refuseOtherVersions(version string) error {
	refusal := func(what string) *Error {
		return &Error{
			Code:     codes.Unimplemented,
			Message:  fmt.Sprintf("The server's version %q %s.", version, what),
			Metadata: map[string]string{"server_version": version, "from": ServerFrom, "before": ServerBefore},
		}
	}
	switch {
	case !versionText.MatchString(version), isBefore(version, ServerFrom):
		return &ServerTooOldError{refusal("is not one of those from " + ServerFrom + " on that this client needs")}
	case !isBefore(version, ServerBefore):
		return &ServerTooNewError{refusal("is not one of those before " + ServerBefore + " that this client knows")}
	default:
		return nil
	}
}

// isBefore compares the numbers of two versions that can be read. A number is as long as it likes.
func isBefore(one, other string) bool {
	left, right := versionText.FindStringSubmatch(one)[1:], versionText.FindStringSubmatch(other)[1:]
	for place := range left {
		a, b := strings.TrimLeft(left[place], "0"), strings.TrimLeft(right[place], "0")
		if len(a) != len(b) {
			return len(a) < len(b)
		}
		if a != b {
			return a < b
		}
	}
	return false
}
