package lockstitch

import (
	"testing"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// connected gives a client of the testbed's server, and the id of a session of its own that it made there.
func connected(t *testing.T, target string, options Options) (*Client, string) {
	t.Helper()
	if options.Token == "" && options.TokenSource == nil {
		options.Token = tokenOf(t, "tenant-"+NewRequestID())
	}
	client, err := Connect(theTestbed.targets[target], options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		for _, command := range []string{"forgive", "restore", "forget_calls"} {
			theTestbed.must(t, command, nil)
		}
	})
	made, err := client.Sessions.CreateSession(t.Context(), &lockstitchv1.CreateSessionRequest{UserId: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	return client, made.GetSession().GetSessionId()
}

func tokenOf(t *testing.T, tenant string) string {
	t.Helper()
	return theTestbed.must(t, "token", map[string]any{"tenant": tenant})["token"].(string)
}

func said(sessionID, text string) *lockstitchv1.AppendRequest {
	return &lockstitchv1.AppendRequest{SessionId: sessionID, Messages: []*lockstitchv1.Message{User(text)}}
}

// texts gives what all messages of a session say, read page by page.
func texts(t *testing.T, client *Client, sessionID string) []string {
	t.Helper()
	var read []string
	request := &lockstitchv1.ListMessagesRequest{SessionId: sessionID, PageSize: 1000}
	for {
		page, err := client.Sessions.ListMessages(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range page.GetMessages() {
			read = append(read, message.GetParts()[0].GetText())
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return read
		}
	}
}
