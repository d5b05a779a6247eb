package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// Fields of SubscribeResponse.
const (
	commitField   = 2
	caughtUpField = 3
)

// milestone says when so many commits had been delivered, to all streams together.
type milestone struct {
	Delivered int64 `json:"delivered"`
	At        int64 `json:"at"`
}

// follow opens a stream for each prepared request, says "live" when all have caught up, and then tells each time
// `every` further commits were delivered. It ends with its standard input.
func follow(ctx context.Context, channel *grpc.ClientConn, method string, bodies [][]byte, every int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var delivered, live atomic.Int64
	failures := make(chan error, len(bodies))
	for _, body := range bodies {
		stream, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(body); err != nil {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		go func() {
			failures <- receive(stream, func(field byte) {
				switch field {
				case commitField:
					if count := delivered.Add(1); count%every == 0 {
						tell(milestone{Delivered: count, At: time.Now().UnixNano()})
					}
				case caughtUpField:
					if live.Add(1) == int64(len(bodies)) {
						fmt.Println("live")
					}
				}
			})
		}()
	}
	err := <-failures
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func receive(stream grpc.ClientStream, each func(field byte)) error {
	var frame answer
	for {
		if err := stream.RecvMsg(&frame); err != nil {
			return err
		}
		each(frame.firstField)
	}
}

func tell(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
