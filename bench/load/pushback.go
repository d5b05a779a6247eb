package main

import (
	"math/rand/v2"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const pushbackKey = "grpc-retry-pushback-ms"

// Callers that are told the same do not come at the same moment.
const later = 0.2

// pushback says how long a caller who was turned away shall wait before it comes again, if it was told.
func pushback(err error, trailer metadata.MD) (time.Duration, bool) {
	told := trailer.Get(pushbackKey)
	if status.Code(err) != codes.Unavailable || len(told) == 0 {
		return 0, false
	}
	milliseconds, err := strconv.Atoi(told[0])
	if err != nil || milliseconds < 0 {
		return 0, false
	}
	return time.Duration(float64(milliseconds) * (1 + later*rand.Float64()) * float64(time.Millisecond)), true
}
