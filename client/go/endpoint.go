package lockstitch

import (
	"crypto/tls"
	"net/netip"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// securityOf is how to speak to a target: in plain text where it can't leave the machine, unless told by name.
func securityOf(target string, options Options) credentials.TransportCredentials {
	switch {
	case options.TLS != nil:
		return credentials.NewTLS(options.TLS)
	case options.Plaintext || isLocal(target):
		return insecure.NewCredentials()
	default:
		return credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
}

// isLocal says whether a gRPC target can't leave this machine.
func isLocal(target string) bool {
	address := target
	scheme, rest, named := strings.Cut(target, ":")
	if named {
		switch scheme {
		case "unix", "unix-abstract":
			return true
		case "dns", "passthrough":
			address = rest
		}
	}
	return isLoopback(address[strings.LastIndex(address, "/")+1:])
}

// isLoopback looks at host, host:port, [address]:port or a bare IPv6 address.
func isLoopback(address string) bool {
	host := address
	if inner, _, bracketed := strings.Cut(strings.TrimPrefix(address, "["), "]"); bracketed && address[0] == '[' {
		host = inner
	} else if strings.Count(address, ":") == 1 {
		host, _, _ = strings.Cut(address, ":")
	}
	if parsed, err := netip.ParseAddr(host); err == nil {
		return parsed.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}
