package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"

	lockstitch "github.com/lockstitch/lockstitch/client/go"
	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

// big is more than a double holds.
const big int64 = 9007199254740993123

func arguments(turn int) string {
	return fmt.Sprintf(`{"turn":%d,"big":%d,"nothing":"\u0000","e":1e3}`, turn, big)
}

func callID(turn int) string {
	return fmt.Sprintf("call-%d", turn)
}

// turnMessages is what a turn adds.
func turnMessages(turn int, author string) []*lockstitchv1.Message {
	said := lockstitch.Assistant(
		fmt.Sprintf("👩🏽‍🚀 turn %d", turn), lockstitch.Text(""), lockstitch.ToolCall(callID(turn), "count", arguments(turn)),
	)
	said.Author = author
	made := []*lockstitchv1.Message{lockstitch.User(fmt.Sprintf("Turn %d: what now?", turn)), said}
	if turn == 1 {
		return made
	}
	answered := fmt.Sprintf(`{"of":%d,"least":-9223372036854775808}`, turn-1)
	return append([]*lockstitchv1.Message{lockstitch.ToolResult(callID(turn-1), answered)}, made...)
}

// completed is what memory says of the turns that these languages took.
func completed(languages []string) []string {
	var made []string
	for place, one := range languages {
		made = append(made, fmt.Sprintf("turn %d by %s", place+1, one))
	}
	return made
}

// check reads all there is of so many turns and compares it. It gives the languages that took them, and the version.
func check(ctx context.Context, run *lockstitch.Run, sessionID string, turns int) ([]string, int64, error) {
	read, err := run.Sessions.GetSession(ctx, &lockstitchv1.GetSessionRequest{
		SessionId: sessionID, RecentMessages: 1000, IncludeMemory: true, IncludeOpenToolCalls: true,
	})
	if err != nil {
		return nil, 0, err
	}
	languages, err := checkMessages(read.GetMessages(), turns)
	if err != nil {
		return nil, 0, err
	}
	counts := map[string]int64{}
	nextAction := ""
	var open []string
	if turns > 0 {
		nextAction = fmt.Sprintf("turn %d", turns+1)
		open = []string{callID(turns), arguments(turns)}
	}
	for one := range turns {
		counts[fmt.Sprintf("count_%d", one+1)] = big
	}
	keptCounts := map[string]int64{}
	if extra := read.GetMemory().GetExtraJson(); extra != "" {
		if err := json.Unmarshal([]byte(extra), &keptCounts); err != nil {
			return nil, 0, err
		}
	}
	var stillOpen []string
	for _, call := range read.GetOpenToolCalls() {
		if err := same("its status", call.GetStatus(), lockstitchv1.ToolCallStatus_TOOL_CALL_STATUS_PENDING); err != nil {
			return nil, 0, err
		}
		stillOpen = append(stillOpen, call.GetCallId(), call.GetArgumentsJson())
	}
	for _, compared := range []error{
		same("completed", read.GetMemory().GetCompleted(), completed(languages)),
		same("next_action", read.GetMemory().GetNextAction(), nextAction),
		same("extra_json", keptCounts, counts),
		same("open tool calls", stillOpen, open),
	} {
		if compared != nil {
			return nil, 0, compared
		}
	}
	return languages, read.GetSession().GetVersion(), nil
}

// checkMessages compares messages with what so many turns left, and gives the languages that took them.
func checkMessages(messages []*lockstitchv1.Message, turns int) ([]string, error) {
	var languages []string
	var left []*lockstitchv1.Message
	for _, message := range messages {
		if message.GetRole() == lockstitchv1.Role_ROLE_ASSISTANT {
			languages = append(languages, message.GetAuthor())
			left = append(left, turnMessages(len(languages), message.GetAuthor())...)
		}
	}
	if err := same("turns", len(languages), turns); err != nil {
		return nil, err
	}
	if err := same("messages", len(messages), len(left)); err != nil {
		return nil, err
	}
	for place, message := range messages {
		if err := same("seq", message.GetSeq(), int64(place+1)); err != nil {
			return nil, err
		}
		if !bytes.Equal(asSent(message), asSent(left[place])) {
			return nil, fmt.Errorf("message %d: %v is not %v", place+1, message, left[place])
		}
	}
	return languages, nil
}

// asSent is a message's bytes without what the server adds.
func asSent(message *lockstitchv1.Message) []byte {
	bare := &lockstitchv1.Message{
		Role: message.GetRole(), Author: message.GetAuthor(), Parts: message.GetParts(), CallId: message.GetCallId(),
	}
	told, _ := proto.MarshalOptions{Deterministic: true}.Marshal(bare)
	return told
}

func same(what string, read, left any) error {
	if reflect.DeepEqual(read, left) {
		return nil
	}
	return fmt.Errorf("%s: %v is not %v", what, read, left)
}
