package lockstitch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lockstitch/lockstitch/client/go/lockstitchv1"
)

const patience = 30 * time.Second

type step = map[string]any

// The same files are read by the tests of all languages; this is Go's turn.
func TestTheClientDoesWhatTheVectorsSay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "client/testdata/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no vectors", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var subject struct {
			Cases []struct {
				Name  string
				Steps []step
			}
		}
		if err := json.Unmarshal(text, &subject); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, one := range subject.Cases {
				t.Run(one.Name, func(t *testing.T) { play(t, one.Steps) })
			}
		})
	}
}

// played is one case that is played against the testbed.
type played struct {
	t       *testing.T
	tenant  string
	saved   map[string]any
	clients map[string]*Client
	streams map[string]*Subscription
	runs    map[string]*Run
	second  string
}

func play(t *testing.T, steps []step) {
	one := &played{
		t: t, tenant: "tenant-" + NewRequestID(), saved: map[string]any{}, clients: map[string]*Client{},
		streams: map[string]*Subscription{}, runs: map[string]*Run{},
	}
	defer one.giveUp()
	for number, given := range steps {
		answer, err := one.step(filled(given, one.saved).(step))
		if err != nil {
			told, _ := json.Marshal(given)
			t.Fatalf("step %d: %v\n%.500s", number+1, err, told)
		}
		names, _ := given["save"].(map[string]any)
		for name, path := range names {
			one.saved[name] = atPath(answer, path.(string))
		}
	}
}

func (p *played) step(given step) (any, error) {
	if given["until"] != true {
		return p.expected(given)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		answer, err := p.expected(given)
		if err == nil || time.Now().After(deadline) {
			return answer, err
		}
		rest(p.t.Context(), 20*time.Millisecond)
	}
}

// expected does a step, and compares what came of it with what the step says.
func (p *played) expected(given step) (any, error) {
	answer, err := p.do(given)
	if wanted, fails := given["error"].(step); fails {
		if err == nil {
			return nil, fmt.Errorf("no error, but %.300v", answer)
		}
		return nil, wrongError(wanted, err)
	}
	if err != nil {
		return nil, err
	}
	pattern := given["answer"]
	if frame, says := given["frame"]; says {
		pattern = frame
	}
	if pattern != nil {
		if found := mismatch(pattern, answer, ""); found != "" {
			return nil, errors.New(found)
		}
	}
	return answer, nil
}

func (p *played) do(given step) (any, error) {
	ctx := p.t.Context()
	switch {
	case given["call"] != nil:
		return p.call(ctx, given)
	case given["testbed"] != nil:
		with, _ := given["with"].(step)
		answer, err := theTestbed.command(given["testbed"].(string), with)
		if given["testbed"] == "second_server" && err == nil {
			p.second = answer["target"].(string)
		}
		return answer, err
	case given["subscribe"] != nil:
		var request lockstitchv1.SubscribeRequest
		if err := read(given["request"], &request); err != nil {
			return nil, err
		}
		p.streams[given["subscribe"].(string)] = p.client(given).Subscribe(ctx, &request)
		return nil, nil
	case given["next"] != nil:
		return p.next(given)
	case given["close"] != nil:
		p.streams[given["close"].(string)].Close()
		return nil, nil
	case given["run"] != nil:
		return p.run(ctx, given)
	case given["finish"] != nil:
		status, says := given["status"].(string)
		if !says {
			status = "succeeded"
		}
		ended := lockstitchv1.RunStatus(lockstitchv1.RunStatus_value["RUN_STATUS_"+strings.ToUpper(status)])
		return written(p.runs[given["finish"].(string)].Finish(ctx, ended, ""))
	case given["lost"] != nil:
		select {
		case <-p.runs[given["lost"].(string)].Lost():
			return nil, nil
		case <-time.After(20 * time.Second):
			return nil, errors.New("the run is not lost")
		}
	case given["check_server"] == true:
		return written(p.client(given).CheckServer(ctx))
	}
	return nil, fmt.Errorf("no such step: %v", given)
}

// call calls an RPC by its name, on whichever stub has it.
func (p *played) call(ctx context.Context, given step) (any, error) {
	if millis, says := given["timeout_ms"].(float64); says {
		bounded, cancel := context.WithTimeout(ctx, time.Duration(millis)*time.Millisecond)
		defer cancel()
		ctx = bounded
	}
	var stubs []any
	if under, says := given["under"].(string); says {
		run := p.runs[under]
		stubs = []any{run.Sessions, run.Runs, run.Checkpoints}
	} else {
		client := p.client(given)
		stubs = []any{client.Sessions, client.Runs, client.Checkpoints, client.Admin}
	}
	for _, stub := range stubs {
		method := reflect.ValueOf(stub).MethodByName(given["call"].(string))
		if !method.IsValid() {
			continue
		}
		request := reflect.New(method.Type().In(1).Elem())
		if err := read(given["request"], request.Interface().(proto.Message)); err != nil {
			return nil, err
		}
		came := method.Call([]reflect.Value{reflect.ValueOf(ctx), request})
		if err, failed := came[1].Interface().(error); failed {
			return nil, err
		}
		return written(came[0].Interface().(proto.Message), nil)
	}
	return nil, fmt.Errorf("no such call: %v", given["call"])
}

func (p *played) next(given step) (any, error) {
	subscription := p.streams[given["next"].(string)]
	alarm := time.AfterFunc(patience, subscription.Close)
	defer alarm.Stop()
	for {
		frame, err := subscription.Next()
		if err != nil {
			return nil, err
		}
		told, err := written(frame, nil)
		if err != nil {
			return nil, err
		}
		for kind, content := range told.(step) {
			if kind == given["kind"] {
				return content, nil
			}
			if kind == "commit" {
				return nil, fmt.Errorf("a commit that nobody asked for: %.300v", content)
			}
		}
	}
}

func (p *played) run(ctx context.Context, given step) (any, error) {
	request := &lockstitchv1.StartRunRequest{SessionId: given["session_id"].(string)}
	request.Worker, _ = given["worker"].(string)
	if millis, says := given["lease_ms"].(float64); says {
		request.Lease = durationpb.New(time.Duration(millis) * time.Millisecond)
	}
	busy, says := given["on_busy"].(string)
	if !says {
		busy = "reject"
	}
	request.OnBusy = lockstitchv1.OnBusy(lockstitchv1.OnBusy_value["ON_BUSY_"+strings.ToUpper(busy)])
	run, err := p.client(given).StartRun(ctx, request)
	if err != nil {
		return nil, err
	}
	p.runs[given["run"].(string)] = run
	told, err := written(run.Last(), nil)
	return step{"run": told}, err
}

// client gives the one client of a case for who calls, and which way.
func (p *played) client(given step) *Client {
	who, says := given["as"].(string)
	if !says {
		who = "engine"
	}
	way, says := given["through"].(string)
	if !says {
		way = "direct"
	}
	if made, is := p.clients[who+" "+way]; is {
		return made
	}
	target := map[string]string{
		"direct": theTestbed.targets["target"], "proxy": theTestbed.targets["proxy_target"],
		"between": theTestbed.targets["between_target"], "second": p.second,
	}[way]
	made, err := Connect(target, Options{Token: p.token(who)})
	if err != nil {
		p.t.Fatal(err)
	}
	p.clients[who+" "+way] = made
	return made
}

func (p *played) token(who string) string {
	role, user, named := strings.Cut(who, ":")
	if !named {
		user = role + "-1"
	}
	asked := map[string]any{"tenant": p.tenant, "user": user, "role": role}
	switch role {
	case "nobody":
		return ""
	case "forged":
		return "forged"
	case "expired":
		asked["user"], asked["role"], asked["ttl_seconds"] = "engine-1", "engine", -60
	}
	return theTestbed.must(p.t, "token", asked)["token"].(string)
}

func (p *played) giveUp() {
	for _, command := range []string{"forgive", "restore", "forget_calls"} {
		theTestbed.must(p.t, command, nil)
	}
	for _, subscription := range p.streams {
		subscription.Close()
	}
	for _, run := range p.runs {
		run.Release()
	}
	for _, client := range p.clients {
		if err := client.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

// wrongError says what of an error is not as it must be.
func wrongError(wanted step, err error) error {
	if kind, says := wanted["type"].(string); says {
		if name := reflect.TypeOf(err).Elem().Name(); name != kind+"Error" {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	var code codes.Code
	if failed := code.UnmarshalJSON([]byte(`"` + wanted["code"].(string) + `"`)); failed != nil {
		return failed
	}
	reason, _ := wanted["reason"].(string)
	kind := reflect.TypeOf(&Error{})
	if typed, known := typeOfReason[reason]; known {
		kind = reflect.TypeOf(typed(&Error{}))
	}
	found, ok := asError(err)
	if !ok || reflect.TypeOf(err) != kind || found.Code != code || found.Reason != reason {
		return fmt.Errorf("%T %w, not %v %s", err, err, code, reason)
	}
	told := step{"requestId": found.RequestID, "metadata": step{}}
	for key, value := range found.Metadata {
		told["metadata"].(step)[key] = value
	}
	pattern := step{}
	if metadata, says := wanted["metadata"]; says {
		pattern["metadata"] = metadata
	}
	if requestID, says := wanted["request_id"]; says {
		pattern["requestId"] = requestID
	}
	if fields, says := wanted["fields"]; says {
		pattern["fields"] = fields
		names := []any{}
		for _, refused := range found.Fields {
			names = append(names, refused.Field)
		}
		told["fields"] = names
	}
	if millis, says := wanted["retry_after_ms"]; says {
		pattern["retryAfter"], told["retryAfter"] = millis, float64(found.RetryAfter.Milliseconds())
	}
	for key, value := range pattern {
		if wrong := mismatch(value, told[key], key); wrong != "" {
			return errors.New(wrong)
		}
	}
	return nil
}

func read(value any, into proto.Message) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, into)
}

func written(message proto.Message, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	var told any
	return told, json.Unmarshal(text, &told)
}
