package lockstitch

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// The values of the test vectors: what stands for something else, and what an answer matches.

func filled(value any, saved map[string]any) any {
	switch value := value.(type) {
	case []any:
		made := make([]any, len(value))
		for place, item := range value {
			made[place] = filled(item, saved)
		}
		return made
	case map[string]any:
		if name, is := value["$saved"]; is {
			return saved[name.(string)]
		}
		if text, is := value["$text"]; is {
			return strings.Repeat(text.(string), int(value["times"].(float64)))
		}
		made := make(map[string]any, len(value))
		for key, item := range value {
			made[key] = filled(item, saved)
		}
		return made
	}
	return value
}

// mismatch says where an answer is not as a pattern has it; "" where it matches.
func mismatch(pattern, given any, at string) string {
	switch wanted := pattern.(type) {
	case map[string]any:
		for key := range wanted {
			if strings.HasPrefix(key, "$") {
				if !is(wanted, given) {
					return fmt.Sprintf("%s: %.300v is not %v", at, given, wanted)
				}
				return ""
			}
		}
		if has, ok := given.(map[string]any); ok && len(wanted) > 0 {
			for key, value := range wanted {
				if found := mismatch(value, has[key], at+"."+key); found != "" {
					return found
				}
			}
			return ""
		}
	case []any:
		if has, ok := given.([]any); ok && len(wanted) > 0 {
			if len(has) != len(wanted) {
				return fmt.Sprintf("%s: %d items, not %d", at, len(has), len(wanted))
			}
			for place, value := range wanted {
				if found := mismatch(value, has[place], fmt.Sprintf("%s[%d]", at, place)); found != "" {
					return found
				}
			}
			return ""
		}
	}
	if isDefault(pattern) && isDefault(given) || reflect.DeepEqual(pattern, given) {
		return ""
	}
	return fmt.Sprintf("%s: %.300v is not %.300v", at, given, pattern)
}

func is(pattern map[string]any, given any) bool {
	if exactly, says := pattern["$exactly"]; says {
		return given != nil && reflect.DeepEqual(exactly, given)
	}
	if _, says := pattern["$any"]; says {
		return !isDefault(given)
	}
	if length, says := pattern["$length"]; says {
		switch given := given.(type) {
		case string:
			return float64(len(given)) == length
		case []any:
			return float64(len(given)) == length
		}
		return given == nil && length == 0.0
	}
	number, ok := given.(float64)
	if text, isText := given.(string); isText {
		read, err := strconv.ParseFloat(text, 64)
		number, ok = read, err == nil
	}
	least, bounded := pattern["$at_least"].(float64)
	if !ok && given != nil || bounded && number < least {
		return false
	}
	most, bounded := pattern["$at_most"].(float64)
	return !bounded || number <= most
}

func isDefault(value any) bool {
	switch value := value.(type) {
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return value == nil || value == 0.0 || value == "0" || value == "" || value == false
}

// atPath gives what lies at a path of keys and indexes.
func atPath(value any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch held := value.(type) {
		case []any:
			place, _ := strconv.Atoi(step)
			value = held[place]
		case map[string]any:
			value = held[step]
		}
	}
	return value
}
