package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

const notKnown = -1

type kindOfAnswer int

const (
	untold     kindOfAnswer = iota // nobody was told: it made the version that the log says, or an attempt like it did
	changed                        // a receipt
	conflicted                     // refused, since another version was expected
	saw                            // a read
)

type input struct {
	requestID string
	content   string
	expected  *int64
}

type output struct {
	kind     kindOfAnswer
	version  int64
	firstSeq int64
	lastSeq  int64
	isReplay bool
}

// A state is a session: its version, its last seq where that is known, and which requests made the window's commits, in order.
type state struct {
	version int64
	lastSeq int64
	log     string
}

// Model is a session that changes are appended to, each once, with or without the version that is expected.
func model(after int64) porcupine.Model {
	session := porcupine.NondeterministicModel{
		Init: func() []interface{} {
			begins := state{version: after, lastSeq: notKnown}
			if after == 0 {
				begins.lastSeq = 0
			}
			return []interface{}{begins}
		},
		Step: func(at, asked, told interface{}) []interface{} {
			return step(at.(state), asked.(input), told.(output), after)
		},
	}
	return session.ToModel()
}

func step(at state, asked input, told output, after int64) []interface{} {
	switch told.kind {
	case untold:
		if told.version == at.version+1 {
			return append(appended(at, asked, notKnown), at)
		}
		return []interface{}{at}
	case changed:
		return afterReceipt(at, asked, told, after)
	case conflicted:
		if told.version != at.version || *asked.expected == at.version {
			return nil
		}
		return []interface{}{at}
	}
	if told.version != at.version || (told.lastSeq != notKnown && at.lastSeq != notKnown && told.lastSeq != at.lastSeq) {
		return nil
	}
	if told.lastSeq != notKnown {
		at.lastSeq = told.lastSeq
	}
	return []interface{}{at}
}

// AfterReceipt gives the states in which a receipt may have been given, and what became of them.
func afterReceipt(at state, asked input, told output, after int64) []interface{} {
	made := at.madeBy(asked, after)
	if made != 0 {
		// It was made already: nothing happens, and it says so.
		if told.isReplay && told.version == made {
			return []interface{}{at}
		}
		return nil
	}
	var found []interface{}
	if told.version == at.version+1 && follows(at, told) {
		// A server that lost its connection at the commit asks again, and tells of a replay: that may be the first time.
		found = appended(at, asked, told.lastSeq)
	}
	isUnchanged := told.version == at.version && told.firstSeq == 0 && !told.isReplay
	if isUnchanged && (asked.expected == nil || *asked.expected == at.version) {
		found = append(found, at)
	}
	return found
}

// Follows tells whether a receipt's messages come right behind the last one.
func follows(at state, told output) bool {
	if at.lastSeq == notKnown {
		return true
	}
	if told.firstSeq == 0 {
		return told.lastSeq == at.lastSeq
	}
	return told.firstSeq == at.lastSeq+1 && told.lastSeq >= told.firstSeq
}

// Appended gives the state behind a change that was not made yet, if its guard lets it be made.
func appended(at state, asked input, lastSeq int64) []interface{} {
	if (asked.expected != nil && *asked.expected != at.version) || strings.Contains(at.log, "\n"+asked.requestID+"\t") {
		return nil
	}
	return []interface{}{state{
		version: at.version + 1,
		lastSeq: lastSeq,
		log:     at.log + "\n" + asked.requestID + "\t" + asked.content,
	}}
}

// MadeBy gives the version that a request made in this window; 0 if none.
func (at state) madeBy(asked input, after int64) int64 {
	for place, line := range strings.Split(at.log, "\n") {
		if line == asked.requestID+"\t"+asked.content {
			return after + int64(place)
		}
	}
	return 0
}
