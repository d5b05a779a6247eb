// Load calls a gRPC server from many callers at a time, with requests that were prepared as bytes.
//
// It is the bench's load generator: native, so that it takes little of the cores that it shares with what it measures.
// The token is read from LOCKSTITCH_TOKEN. What it found is told as JSON on standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

const (
	runTimeMax    = 5 * time.Minute
	answerSizeMax = 64 << 20
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	target := flag.String("target", "", "the server, HOST:PORT")
	method := flag.String("method", "", "what is called, /package.Service/Method")
	from := flag.String("bodies", "", "a file of prepared requests, each behind its length in four bytes; they are taken in turn")
	field := flag.Int("request-id-field", 0, "the number of request_id, of which each call gets one of its own; 0: none")
	inFlight := flag.Int("in-flight", 1, "calls at a time")
	seconds := flag.Float64("seconds", runTimeMax.Seconds(), "for how long")
	calls := flag.Int64("calls", math.MaxInt64, "how many calls, those that warm up included")
	warmUp := flag.Int64("warm-up", 0, "how many of them are made before the clock starts")
	settle := flag.Float64("settle", 0, "seconds in which calls are made and not counted, before those that are")
	again := flag.Bool("pushback", false, "a caller that is turned away comes again when it was told to")
	connections := flag.Int("connections", 1, "connections that the callers share")
	every := flag.Int64("follow-every", 0, "opens a stream for each request instead, and tells each time so many commits came")
	flag.Parse()

	bodies, err := readBodies(*from)
	if err != nil {
		return err
	}
	channels := make([]*grpc.ClientConn, *connections)
	for place := range channels {
		if channels[place], err = connect(*target); err != nil {
			return err
		}
		defer func() { _ = channels[place].Close() }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), runTimeMax)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("LOCKSTITCH_TOKEN"))
	if *every > 0 {
		return follow(ctx, channels[0], *method, bodies, *every)
	}
	loop := closedLoop{
		method:   *method,
		inFlight: *inFlight,
		time:     duration(*seconds),
		calls:    *calls,
		warmUp:   *warmUp,
		settle:   duration(*settle),
		pushback: *again,
	}
	tell(loop.run(ctx, channels, newRequests(bodies, *field)))
	return nil
}

func connect(target string) (*grpc.ClientConn, error) {
	return grpc.NewClient(
		target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(passthrough{}), grpc.MaxCallRecvMsgSize(answerSizeMax), grpc.WaitForReady(true),
		),
	)
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}
