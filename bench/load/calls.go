package main

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// closedLoop is so many calls in flight, each followed by the next.
type closedLoop struct {
	method   string
	inFlight int
	// The loop ends after so much time or so many calls, whichever comes first.
	time  time.Duration
	calls int64
	// Calls that are made before the clock starts.
	warmUp int64
	// Attempts that begin sooner are made, and not counted.
	settle time.Duration
	// A caller that is told to come again does so, with the same request.
	pushback bool
}

// report is what a loop took.
type report struct {
	Calls int `json:"calls"`
	// Those that were not counted, too.
	Answered       int     `json:"answered"`
	Seconds        float64 `json:"seconds"`
	P50Ms          float64 `json:"p50_ms"`
	P99Ms          float64 `json:"p99_ms"`
	CPUSeconds     float64 `json:"cpu_seconds"`
	BytesPerAnswer float64 `json:"bytes_per_answer"`
	TurnedAway     int     `json:"turned_away"`
	Failed         int     `json:"failed"`
	FirstFailure   string  `json:"first_failure,omitempty"`
}

func (l closedLoop) run(ctx context.Context, channels []*grpc.ClientConn, requests requests) report {
	var next atomic.Int64
	warm := l.until(ctx, channels, requests, &next, l.warmUp, time.Now(), time.Now().Add(l.time))
	worked, counted := cpuSeconds(), time.Now().Add(l.settle)
	made := l.until(ctx, channels, requests, &next, l.calls, counted, counted.Add(l.time))
	seconds := time.Since(counted).Seconds()
	told := made.report(seconds, cpuSeconds()-worked)
	told.Answered = made.answered + warm.answered
	return told
}

// until makes calls, up to the number `last`, until a moment; what begins before `counted` is left out.
func (l closedLoop) until(
	ctx context.Context, channels []*grpc.ClientConn, requests requests, next *atomic.Int64, last int64,
	counted, end time.Time,
) made {
	each := make([]made, l.inFlight)
	var callers sync.WaitGroup
	for place := range each {
		callers.Add(1)
		go func() {
			defer callers.Done()
			channel := channels[place%len(channels)]
			for time.Now().Before(end) {
				number := next.Add(1) - 1
				if number >= last {
					next.Add(-1)
					return
				}
				l.call(ctx, channel, requests.of(number), counted, end, &each[place])
			}
		}()
	}
	callers.Wait()
	var all made
	for _, of := range each {
		all.join(of)
	}
	return all
}

// call makes one call, again and again while it is told to come again.
func (l closedLoop) call(
	ctx context.Context, channel *grpc.ClientConn, request []byte, counted, end time.Time, of *made,
) {
	for began := time.Now(); began.Before(end); began = time.Now() {
		var received answer
		var trailer metadata.MD
		err := channel.Invoke(ctx, l.method, request, &received, grpc.Trailer(&trailer))
		wait, told := pushback(err, trailer)
		again := l.pushback && told
		if err == nil {
			of.answered++
		}
		if !began.Before(counted) {
			of.add(time.Since(began), received.size, again, err)
		}
		if !again {
			return
		}
		time.Sleep(min(wait, time.Until(end)))
	}
}

// made is what a caller's calls came to.
type made struct {
	answered   int
	latencies  []time.Duration
	bytes      int
	turnedAway int
	failed     int
	failure    string
}

func (m *made) add(latency time.Duration, size int, again bool, err error) {
	switch {
	case again:
		m.turnedAway++
	case err != nil:
		m.failed++
		if m.failure == "" {
			m.failure = err.Error()
		}
	default:
		m.latencies = append(m.latencies, latency)
		m.bytes += size
	}
}

func (m *made) join(other made) {
	m.answered += other.answered
	m.latencies = append(m.latencies, other.latencies...)
	m.bytes += other.bytes
	m.turnedAway += other.turnedAway
	m.failed += other.failed
	if m.failure == "" {
		m.failure = other.failure
	}
}

func (m made) report(seconds, cpu float64) report {
	sort.Slice(m.latencies, func(one, other int) bool { return m.latencies[one] < m.latencies[other] })
	told := report{
		Calls: len(m.latencies), Seconds: seconds, CPUSeconds: cpu,
		TurnedAway: m.turnedAway, Failed: m.failed, FirstFailure: m.failure,
	}
	if count := len(m.latencies); count > 0 {
		told.P50Ms = m.latencies[count/2].Seconds() * 1000
		told.P99Ms = m.latencies[count*99/100].Seconds() * 1000
		told.BytesPerAnswer = float64(m.bytes) / float64(count)
	}
	return told
}

// cpuSeconds is how long this process has worked.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
