// Command porcupine tells of a recorded history, window by window, whether it is linearizable.
//
//	go run . [-session ID] [-versions 8] [-seconds 20] FILE
//
// FILE is what tests/faults/recorder.py writes. Each window is a line; the exit code is 1 if one is not linearizable, and 3 if
// one could not be decided in time.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

func main() {
	name := flag.String("session", "", "only this session; all if left out")
	size := flag.Int64("versions", 8, "how many versions a window has")
	seconds := flag.Float64("seconds", 20, "how long one window may take")
	flag.Parse()
	if flag.NArg() != 1 || *size < 1 {
		flag.Usage()
		os.Exit(2)
	}
	sessions, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	verdicts := map[porcupine.CheckResult]int{}
	for _, session := range sessions {
		if *name != "" && session.name != *name {
			continue
		}
		for after, last := int64(0), session.newestVersion(); after == 0 || after < last; after += *size {
			until := after + *size
			if until > last {
				until = last
			}
			window, unknown := session.windowOf(after, until)
			verdict := porcupine.CheckOperationsTimeout(model(after), window, time.Duration(*seconds*float64(time.Second)))
			verdicts[verdict]++
			fmt.Printf("%s, versions %d to %d: %s (%d operations, %d of unknown outcome)\n",
				session.name, after, until, word(verdict), len(window), unknown)
		}
	}
	switch {
	case verdicts[porcupine.Illegal] > 0:
		os.Exit(1)
	case verdicts[porcupine.Unknown] > 0:
		os.Exit(3)
	case verdicts[porcupine.Ok] == 0:
		fmt.Fprintln(os.Stderr, "there is no such session")
		os.Exit(2)
	}
}

func word(verdict porcupine.CheckResult) string {
	switch verdict {
	case porcupine.Ok:
		return "linearizable"
	case porcupine.Illegal:
		return "NOT linearizable"
	default:
		return "undecided"
	}
}
