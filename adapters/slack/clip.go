package slack

import (
	"github.com/rivo/uniseg"
)

// clip cuts text to n graphemes, the last one "…" where something is missing.
func clip(text string, n int) string {
	end, count, state := 0, 0, -1
	rest := text
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if count++; count > n {
			return text[:end] + nothing
		}
		if count < n {
			end += len(cluster)
		}
	}
	return text
}
