package main

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

const requestIDLength = 32

// readBodies reads prepared requests, each behind its length in four bytes.
func readBodies(path string) ([][]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var bodies [][]byte
	for len(content) > 0 {
		if len(content) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		length := int(binary.BigEndian.Uint32(content))
		if content = content[4:]; len(content) < length {
			return nil, io.ErrUnexpectedEOF
		}
		bodies = append(bodies, content[:length:length])
		content = content[length:]
	}
	if len(bodies) == 0 {
		return nil, errors.New("no request was prepared")
	}
	return bodies, nil
}

// requests makes the request of each call: a prepared body, and behind it a request_id that no other call has.
type requests struct {
	bodies [][]byte
	field  int
	run    string
}

func newRequests(bodies [][]byte, requestIDField int) requests {
	var run [8]byte
	if _, err := rand.Read(run[:]); err != nil {
		panic(err) // the kernel always has some
	}
	return requests{bodies: bodies, field: requestIDField, run: hex.EncodeToString(run[:])}
}

// of gives the request with this number. Fields of protobuf may come in any order.
func (r requests) of(number int64) []byte {
	body := r.bodies[number%int64(len(r.bodies))]
	if r.field == 0 {
		return body
	}
	request := make([]byte, len(body), len(body)+2+requestIDLength)
	copy(request, body)
	request = append(request, byte(r.field<<3|2), requestIDLength)
	request = append(request, r.run...)
	return fmt.Appendf(request, "%0"+strconv.Itoa(requestIDLength-len(r.run))+"x", number)
}
