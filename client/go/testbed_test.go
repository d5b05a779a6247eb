package lockstitch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// testbed is the real servers, and the networks before them, of ../testdata/testbed.py. Its README has the commands.
type testbed struct {
	process *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Reader
	targets map[string]string
	mutex   sync.Mutex
}

var (
	theTestbed *testbed
	root       = repository()
)

func TestMain(m *testing.M) {
	code, err := 1, error(nil)
	if theTestbed, err = startTestbed(); err == nil {
		code = m.Run()
		err = theTestbed.stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the testbed:", err)
		code = 1
	}
	os.Exit(code)
}

// repository goes up to the folder that has protos/.
func repository() string {
	folder, _ := os.Getwd()
	for folder != filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "protos")); err == nil {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

func startTestbed() (*testbed, error) {
	command := strings.Fields(os.Getenv("LOCKSTITCH_TESTBED"))
	if len(command) == 0 {
		command = []string{filepath.Join(root, ".venv/bin/python"), filepath.Join(root, "client/testdata/testbed.py")}
	}
	started := &testbed{process: exec.Command(command[0], command[1:]...)}
	started.process.Stderr = os.Stderr
	stdout, err := started.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if started.stdin, err = started.process.StdinPipe(); err != nil {
		return nil, err
	}
	started.lines = bufio.NewReader(stdout)
	if err := started.process.Start(); err != nil {
		return nil, err
	}
	line, err := started.lines.ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(err, started.process.Wait())
	}
	return started, json.Unmarshal(line, &started.targets)
}

// command sends a command, and gives the answer.
func (b *testbed) command(name string, with map[string]any) (map[string]any, error) {
	sent := map[string]any{"command": name}
	for key, value := range with {
		sent[key] = value
	}
	line, err := json.Marshal(sent)
	if err != nil {
		return nil, err
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if _, err := b.stdin.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	told, err := b.lines.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(told, &answer); err != nil {
		return nil, err
	}
	if answer["ok"] != true {
		return nil, fmt.Errorf("%s: %v", name, answer["error"])
	}
	delete(answer, "ok")
	return answer, nil
}

func (b *testbed) must(t *testing.T, name string, with map[string]any) map[string]any {
	t.Helper()
	answer, err := b.command(name, with)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (b *testbed) stop() error {
	return errors.Join(b.stdin.Close(), b.process.Wait())
}
