package lockstitch

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
)

const (
	waitFirst     = 100 * time.Millisecond
	waitMost      = time.Second
	resumeMost    = 5 * time.Second
	waitJitter    = 0.2
	resumeJitter  = 0.8
	budgetTokens  = 1000.0
	budgetGivenBy = 0.1
)

// budget is the tokens of a client's retries, as gRPC's retry throttling counts them: under lasting trouble retries add
// at most a tenth to the load.
type budget struct {
	mutex  sync.Mutex
	tokens float64
}

func newBudget() *budget {
	return &budget{tokens: budgetTokens}
}

// answered notes an attempt that was answered, if only with an error.
func (b *budget) answered() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.tokens = min(b.tokens+budgetGivenBy, budgetTokens)
}

// failed notes an attempt that was not answered, and says whether there may be another one.
func (b *budget) failed() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.tokens = max(b.tokens-1, 0)
	return b.tokens > budgetTokens/2
}

// retryWait is the wait behind so many attempts before it.
func retryWait(attempt int) time.Duration {
	return spread(grown(attempt, waitMost), waitJitter)
}

// resumeWait is the wait before a subscription is resumed, spread wide: thousands may have lost their server at once.
func resumeWait(attempt int) time.Duration {
	return spread(grown(attempt, resumeMost), resumeJitter)
}

func grown(attempt int, most time.Duration) time.Duration {
	return min(waitFirst<<min(attempt, 16), most)
}

func spread(wait time.Duration, jitter float64) time.Duration {
	return time.Duration(float64(wait) * (1 - jitter + 2*jitter*rand.Float64()))
}

// pushback is how long the server wants a retry to wait, where it says; negative where it wants none. What can't be
// read is a no, as gRPC has it.
func pushback(trailer metadata.MD) (time.Duration, bool) {
	told := trailer.Get("grpc-retry-pushback-ms")
	if len(told) == 0 {
		return 0, false
	}
	millis, err := strconv.ParseInt(told[0], 10, 32)
	if err != nil {
		return -1, true
	}
	return time.Duration(millis) * time.Millisecond, true
}
