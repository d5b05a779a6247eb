// Command engine is Go's engine of examples/five_engines: it takes one turn of the conversation, and checks all that the
// others left. client/README.md says what an engine does.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	lockstitch "github.com/lockstitch/lockstitch/client/go"
	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

const (
	language = "go"
	lease    = 10 * time.Second
)

func main() {
	sessionID := flag.String("session-id", "", "which session")
	turn := flag.Int("turn", 0, "which turn: 1, 2, 3 …")
	flag.Parse()
	version, err := takeTurn(context.Background(), *sessionID, *turn)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	told, _ := json.Marshal(map[string]any{"turn": *turn, "language": language, "version": version})
	fmt.Println(string(told))
}

// takeTurn takes one turn, and gives the version that it made.
func takeTurn(ctx context.Context, sessionID string, turn int) (version int64, err error) {
	client, err := lockstitch.Connect(os.Getenv("LOCKSTITCH_TARGET"), lockstitch.Options{Token: os.Getenv("LOCKSTITCH_TOKEN")})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if _, err := client.CheckServer(ctx); err != nil {
		return 0, err
	}
	start := &lockstitchv1.StartRunRequest{SessionId: sessionID, Worker: language, Lease: durationpb.New(lease)}
	err = client.Run(ctx, start, func(ctx context.Context, run *lockstitch.Run) error {
		languages, at, err := check(ctx, run, sessionID, turn-1)
		if err != nil {
			return err
		}
		if version, err = speak(ctx, run, sessionID, at, turn, append(languages, language)); err != nil {
			return err
		}
		return follow(ctx, client, sessionID, turn, version)
	})
	return version, err
}

// speak appends the turn twice, as a retry does, and once more at a version that is old by then.
func speak(
	ctx context.Context, run *lockstitch.Run, sessionID string, at int64, turn int, languages []string,
) (int64, error) {
	patch, err := json.Marshal(map[string]any{
		"completed": completed(languages), "next_action": fmt.Sprintf("turn %d", turn+1), fmt.Sprintf("count_%d", turn): big,
	})
	if err != nil {
		return 0, err
	}
	request := &lockstitchv1.AppendRequest{
		RequestId: lockstitch.NewRequestID(), SessionId: sessionID, ExpectedVersion: &at,
		Messages: turnMessages(turn, language), MemoryChange: lockstitch.MergePatch(string(patch)),
	}
	first, err := run.Sessions.Append(ctx, request)
	if err != nil {
		return 0, err
	}
	again, err := run.Sessions.Append(ctx, request)
	if err != nil {
		return 0, err
	}
	made, told := first.GetReceipt(), again.GetReceipt()
	if made.GetReplayed() || !told.GetReplayed() || made.GetVersion() != told.GetVersion() ||
		made.GetFirstSeq() != told.GetFirstSeq() || made.GetLastSeq() != told.GetLastSeq() {
		return 0, fmt.Errorf("the receipt %v was told again as %v", made, told)
	}
	late := &lockstitchv1.AppendRequest{
		SessionId: sessionID, ExpectedVersion: &at, Messages: []*lockstitchv1.Message{lockstitch.User("too late")},
	}
	_, err = run.Sessions.Append(ctx, late)
	conflict, refused := err.(*lockstitch.VersionConflictError)
	if !refused {
		return 0, fmt.Errorf("an append at an old version: %w", err)
	}
	return made.GetVersion(), same("current_version", conflict.CurrentVersion(), made.GetVersion())
}

// follow reads the session's commits from its beginning, and checks what they hold.
func follow(ctx context.Context, client *lockstitch.Client, sessionID string, turn int, upTo int64) error {
	subscription := client.Subscribe(ctx, &lockstitchv1.SubscribeRequest{SessionId: sessionID})
	defer subscription.Close()
	var messages []*lockstitchv1.Message
	wanted := int64(1)
	for commit, err := range subscription.Commits() {
		if err != nil {
			return err
		}
		if err := same("a commit's version", commit.GetVersion(), wanted); err != nil {
			return err
		}
		messages = append(messages, commit.GetMessages()...)
		if wanted++; commit.GetVersion() == upTo {
			break
		}
	}
	_, err := checkMessages(messages, turn)
	return err
}
