package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"

	"github.com/anishathalye/porcupine"
)

// A record is what this program needs of a line.
type record struct {
	Is              string
	At              int64
	Op              int64
	Method          string
	Session         string
	RequestID       string `json:"request_id"`
	Content         string
	ExpectedVersion *int64 `json:"expected_version"`
	AtVersion       *int64 `json:"at_version"`
	Outcome         string
	Reason          string
	Details         map[string]any
	Receipt         *receipt
	Seen            *seen
	Commit          []byte
}

type receipt struct {
	Version  int64
	FirstSeq int64 `json:"first_seq"`
	LastSeq  int64 `json:"last_seq"`
	Replayed bool
}

type seen struct {
	Version *int64
	LastSeq *int64 `json:"last_seq"`
}

// A call is a record of what was asked for, and of how it ended: nil where nobody knows.
type call struct {
	asked, told record
	isKnown     bool
}

// A session is its calls, and the commits of its log when all was over, packed.
type session struct {
	name  string
	calls []*call
	log   [][]byte
}

// Read gives the sessions of a history; a last line that a crash cut off was never told of.
func read(path string) ([]*session, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var sessions []*session
	byName := map[string]*session{}
	of := func(name string) *session {
		if byName[name] == nil {
			byName[name] = &session{name: name}
			sessions = append(sessions, byName[name])
		}
		return byName[name]
	}
	byOp := map[int64]*call{}
	lines := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
	lines.Buffer(nil, math.MaxInt32)
	for number := 1; lines.Scan(); number++ {
		var line record
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		switch line.Is {
		case "invoked":
			byOp[line.Op] = &call{asked: line}
			of(line.Session).calls = append(of(line.Session).calls, byOp[line.Op])
		case "returned":
			if begun := byOp[line.Op]; begun != nil {
				begun.told, begun.isKnown = line, line.Outcome != "unknown"
			}
		case "logged":
			of(line.Session).log = append(of(line.Session).log, line.Commit)
		}
	}
	return sessions, lines.Err()
}

func (of *session) newestVersion() int64 {
	newest := int64(0)
	for _, one := range of.calls {
		if version, _, tells := told(one); tells && version > newest {
			newest = version
		}
	}
	return newest
}

// VersionOf gives the version that the log has for a request; 0 if it has none. A commit begins with its version, and holds the
// first 16 bytes of its request id's SHA-256.
func (of *session) versionOf(requestID string) int64 {
	hash := sha256.Sum256([]byte(requestID))
	for _, commit := range of.log {
		if bytes.Contains(commit, hash[:16]) {
			version, _ := binary.Uvarint(commit[1:])
			return int64(version)
		}
	}
	return 0
}

// Told gives what an answer says of the session's version, and what kind of answer it is.
func told(one *call) (version int64, kind kindOfAnswer, tells bool) {
	switch {
	case !one.isKnown:
		return 0, 0, false
	case one.told.Receipt != nil:
		return one.told.Receipt.Version, changed, true
	case one.told.Reason == "VERSION_CONFLICT":
		version, err := strconv.ParseInt(fmt.Sprint(one.told.Details["current_version"]), 10, 64)
		return version, conflicted, err == nil && one.asked.ExpectedVersion != nil
	case one.told.Reason == "SESSION_NOT_FOUND":
		return 0, saw, true
	case one.told.Seen != nil && one.told.Seen.Version != nil && one.asked.AtVersion == nil:
		return *one.told.Seen.Version, saw, true
	}
	return 0, 0, false
}

// WindowOf gives the operations between two versions: those that say so, and those of unknown outcome that the log shows to be
// among them. Of a request's attempts that nobody was told of one is enough.
func (of *session) windowOf(after, last int64) (window []porcupine.Operation, unknown int) {
	type attempt struct {
		requestID, content string
		expected           int64
	}
	known := map[attempt]bool{}
	for _, one := range of.calls {
		version, kind, tells := told(one)
		if tells && version >= after && version <= last && (kind != changed || version > after || after == 0) {
			window = append(window, operationOf(one, version, kind))
		}
		made := attempt{one.asked.RequestID, one.asked.Content, notKnown}
		if one.asked.ExpectedVersion != nil {
			made.expected = *one.asked.ExpectedVersion
		}
		if one.isKnown || known[made] {
			continue
		}
		if version = of.versionOf(one.asked.RequestID); version > after && version <= last {
			known[made] = true
			unknown++
			window = append(window, porcupine.Operation{
				Input: inputOf(one), Output: output{kind: untold, version: version}, Call: one.asked.At, Return: math.MaxInt64,
			})
		}
	}
	sort.SliceStable(window, func(i, j int) bool { return window[i].Call < window[j].Call })
	return window, unknown
}

func operationOf(one *call, version int64, kind kindOfAnswer) porcupine.Operation {
	answer := output{kind: kind, version: version, lastSeq: notKnown}
	switch {
	case kind == changed:
		receipt := one.told.Receipt
		answer.isReplay, answer.firstSeq, answer.lastSeq = receipt.Replayed, receipt.FirstSeq, receipt.LastSeq
	case kind == saw && one.told.Seen != nil && one.told.Seen.LastSeq != nil:
		answer.lastSeq = *one.told.Seen.LastSeq
	}
	return porcupine.Operation{Input: inputOf(one), Output: answer, Call: one.asked.At, Return: one.told.At}
}

func inputOf(one *call) input {
	return input{requestID: one.asked.RequestID, content: one.asked.Content, expected: one.asked.ExpectedVersion}
}
