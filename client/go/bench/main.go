// Command bench appends prepared requests with the client, so many at a time, and tells how many a second there were.
//
// Its requests are those that the load generator of bench/load takes, so that the two can be compared: AppendRequests,
// each behind its length in four bytes. The token is read from LOCKSTITCH_TOKEN.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"

	lockstitch "github.com/lockstitch/lockstitch/client/go"
	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

func main() {
	target := flag.String("target", "", "the server, HOST:PORT")
	from := flag.String("bodies", "", "a file of prepared requests; they are taken in turn")
	inFlight := flag.Int("in-flight", 64, "calls at a time")
	seconds := flag.Float64("seconds", 5, "for how long")
	warmUp := flag.Int64("warm-up", 0, "how many calls are made before the clock starts")
	flag.Parse()
	if err := run(*target, *from, *inFlight, *warmUp, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(target, from string, inFlight int, warmUp int64, length time.Duration) error {
	requests, err := read(from)
	if err != nil {
		return err
	}
	client, err := lockstitch.Connect(target, lockstitch.Options{Token: os.Getenv("LOCKSTITCH_TOKEN")})
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := load(client, requests, inFlight, warmUp, time.Now().Add(time.Minute)); err != nil {
		return err
	}
	worked, began := cpuSeconds(), time.Now()
	calls, err := load(client, requests, inFlight, 1<<62, began.Add(length))
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"calls": calls, "seconds": took, "cpu_seconds": cpuSeconds() - worked})
}

// cpuSeconds is how long this process has worked.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// load makes calls up to a number or a moment, whichever comes first, and gives how many there were.
func load(
	client *lockstitch.Client, requests []*lockstitchv1.AppendRequest, inFlight int, most int64, until time.Time,
) (int64, error) {
	var taken, made atomic.Int64
	var callers sync.WaitGroup
	failed := make(chan error, inFlight)
	for range inFlight {
		callers.Go(func() {
			for time.Now().Before(until) {
				number := taken.Add(1) - 1
				if number >= most {
					return
				}
				request := requests[number%int64(len(requests))]
				if _, err := client.Sessions.Append(context.Background(), request); err != nil {
					failed <- err
					return
				}
				made.Add(1)
			}
		})
	}
	callers.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return made.Load(), nil
	}
}

func read(from string) ([]*lockstitchv1.AppendRequest, error) {
	data, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	var requests []*lockstitchv1.AppendRequest
	for len(data) >= 4 {
		end := 4 + int(binary.BigEndian.Uint32(data))
		if end > len(data) {
			return nil, fmt.Errorf("%s ends within a request", from)
		}
		request := &lockstitchv1.AppendRequest{}
		if err := proto.Unmarshal(data[4:end], request); err != nil {
			return nil, err
		}
		requests, data = append(requests, request), data[end:]
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("%s holds no requests", from)
	}
	return requests, nil
}
