package lockstitch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

const (
	writersEach  = 4
	appendsEach  = 10
	appendsTotal = 2 * writersEach * appendsEach
)

// Many goroutines over two clients and two servers, one of them behind a network that is cut again and again: each
// append is stored once, and a subscription over the bad network gives each once and in order.
func TestManyWritersOverTwoServersAndABadNetworkLoseNothingAndStoreNothingTwice(t *testing.T) {
	tenant := "tenant-" + NewRequestID()
	near, sessionID := connected(t, "proxy_target", Options{Token: tokenOf(t, tenant)})
	second := theTestbed.must(t, "second_server", nil)["target"].(string)
	far, err := Connect(second, Options{Token: tokenOf(t, tenant)})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()

	subscription := near.Subscribe(t.Context(), &lockstitchv1.SubscribeRequest{SessionId: sessionID})
	defer subscription.Close()

	var writing sync.WaitGroup
	var wanted []string
	for number, client := range []*Client{near, far} {
		for writer := range writersEach {
			for place := range appendsEach {
				wanted = append(wanted, fmt.Sprintf("%d-%d-%d", number, writer, place))
			}
			mine := slices.Clone(wanted[len(wanted)-appendsEach:])
			writing.Go(func() {
				for _, text := range mine {
					if _, err := client.Sessions.Append(t.Context(), said(sessionID, text)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	given := follow(t, subscription)
	writing.Wait()
	theTestbed.must(t, "restore", nil)
	stored := texts(t, far, sessionID)
	if !slices.Equal(given, stored) {
		t.Errorf("followed %v, stored %v", given, stored)
	}
	slices.Sort(stored)
	slices.Sort(wanted)
	if !slices.Equal(stored, wanted) {
		t.Errorf("stored %v", stored)
	}
}

// follow gives what the commits of a session say, so many as there are to come, in order, and breaks the network meanwhile.
func follow(t *testing.T, subscription *Subscription) []string {
	var read []string
	version := int64(0)
	for commit, err := range subscription.Commits() {
		if err != nil {
			t.Error(err)
			break
		}
		if version++; commit.GetVersion() != version {
			t.Errorf("version %d behind %d", commit.GetVersion(), version-1)
		}
		for _, message := range commit.GetMessages() {
			read = append(read, message.GetParts()[0].GetText())
		}
		if len(read) >= appendsTotal {
			break
		}
		if version%6 == 0 {
			theTestbed.must(t, []string{"cut", "lose_next_reply"}[version/6%2], nil)
		}
	}
	return read
}

// One session, many who want to hold it, over two servers: there is one holder at a time.
func TestOneHolderAtATime(t *testing.T) {
	tenant := "tenant-" + NewRequestID()
	near, sessionID := connected(t, "target", Options{Token: tokenOf(t, tenant)})
	far, err := Connect(theTestbed.must(t, "second_server", nil)["target"].(string), Options{Token: tokenOf(t, tenant)})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	var holding sync.WaitGroup
	var mutex sync.Mutex
	held := 0
	for number := range 8 {
		client := []*Client{near, far}[number%2]
		holding.Go(func() {
			for start := (&lockstitchv1.StartRunRequest{SessionId: sessionID}); ; {
				err := client.Run(t.Context(), start, func(ctx context.Context, run *Run) error {
					if !mutex.TryLock() {
						t.Error("two held it at once")
						return nil
					}
					defer mutex.Unlock()
					held++
					_, err := run.Sessions.Append(ctx, said(sessionID, fmt.Sprint(number)))
					return err
				})
				var busy *RunActiveError
				if !errors.As(err, &busy) {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	holding.Wait()
	if read := texts(t, near, sessionID); held != 8 || len(read) != 8 {
		t.Error(held, read)
	}
}
