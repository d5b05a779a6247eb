package main

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
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
}

// report is what a loop took.
type report struct {
	Calls          int     `json:"calls"`
	Seconds        float64 `json:"seconds"`
	P50Ms          float64 `json:"p50_ms"`
	P99Ms          float64 `json:"p99_ms"`
	CPUSeconds     float64 `json:"cpu_seconds"`
	BytesPerAnswer float64 `json:"bytes_per_answer"`
	Failed         int     `json:"failed"`
	FirstFailure   string  `json:"first_failure,omitempty"`
}

func (l closedLoop) run(ctx context.Context, channel *grpc.ClientConn, requests requests) report {
	var next atomic.Int64
	l.until(ctx, channel, requests, &next, l.warmUp, time.Now().Add(l.time))
	worked, began := cpuSeconds(), time.Now()
	made := l.until(ctx, channel, requests, &next, l.calls, began.Add(l.time))
	seconds := time.Since(began).Seconds()
	return made.report(seconds, cpuSeconds()-worked)
}

// until makes calls, up to the number `last`, until a moment.
func (l closedLoop) until(
	ctx context.Context, channel *grpc.ClientConn, requests requests, next *atomic.Int64, last int64, end time.Time,
) made {
	each := make([]made, l.inFlight)
	var callers sync.WaitGroup
	for place := range each {
		callers.Add(1)
		go func() {
			defer callers.Done()
			of := &each[place]
			for began := time.Now(); began.Before(end); {
				number := next.Add(1) - 1
				if number >= last {
					next.Add(-1)
					return
				}
				var received answer
				err := channel.Invoke(ctx, l.method, requests.of(number), &received)
				now := time.Now()
				of.add(now.Sub(began), received.size, err)
				began = now
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

// made is what a caller's calls came to.
type made struct {
	latencies []time.Duration
	bytes     int
	failed    int
	failure   string
}

func (m *made) add(latency time.Duration, size int, err error) {
	if err != nil {
		m.failed++
		if m.failure == "" {
			m.failure = err.Error()
		}
		return
	}
	m.latencies = append(m.latencies, latency)
	m.bytes += size
}

func (m *made) join(other made) {
	m.latencies = append(m.latencies, other.latencies...)
	m.bytes += other.bytes
	m.failed += other.failed
	if m.failure == "" {
		m.failure = other.failure
	}
}

func (m made) report(seconds, cpu float64) report {
	sort.Slice(m.latencies, func(one, other int) bool { return m.latencies[one] < m.latencies[other] })
	told := report{
		Calls: len(m.latencies), Seconds: seconds, CPUSeconds: cpu, Failed: m.failed, FirstFailure: m.failure,
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
