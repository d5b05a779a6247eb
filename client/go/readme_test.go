package lockstitch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFirstProgramOfTheReadmeRuns(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("the README has no program")
	}
	// It is a package of this module for as long as it runs: outside of it there is no module to get.
	if err := os.MkdirAll(".build", 0o755); err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp(".build", "readme-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	running := exec.Command("go", "run", "./"+folder)
	running.Env = append(os.Environ(),
		"LOCKSTITCH_TARGET="+theTestbed.targets["target"], "LOCKSTITCH_TOKEN="+tokenOf(t, "tenant-"+NewRequestID()))
	told, err := running.CombinedOutput()
	wanted := "conflict: expected 1, is at 4\nversion 1 with 0 messages\nversion 2 with 0 messages\n" +
		"version 3 with 2 messages\nversion 4 with 0 messages\n"
	if err != nil || string(told) != wanted {
		t.Errorf("%v: %s", err, told)
	}
	formatted, err := exec.Command("gofmt", "-l", folder).CombinedOutput()
	if err != nil || len(formatted) > 0 {
		t.Errorf("%v: not formatted: %s", err, formatted)
	}
}
