package main

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// answer is what came back: how much of it, and which field it begins with.
type answer struct {
	size       int
	firstField byte
}

// passthrough hands bytes on as they are: what they mean is the business of whoever prepared them.
type passthrough struct{}

func (passthrough) Marshal(request any) (mem.BufferSlice, error) {
	body, isBytes := request.([]byte)
	if !isBytes {
		return nil, fmt.Errorf("a request is bytes, not %T", request)
	}
	return mem.BufferSlice{mem.SliceBuffer(body)}, nil
}

func (passthrough) Unmarshal(data mem.BufferSlice, into any) error {
	received, isAnswer := into.(*answer)
	if !isAnswer {
		return fmt.Errorf("bytes are received into an answer, not %T", into)
	}
	received.size = data.Len()
	for _, part := range data {
		if bytes := part.ReadOnlyData(); len(bytes) > 0 {
			received.firstField = bytes[0] >> 3
			break
		}
	}
	return nil
}

// Name is the one that servers expect.
func (passthrough) Name() string { return "proto" }
