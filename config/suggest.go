package config

import "strings"

// nearest is the candidate that a typo most likely meant; false if none is close.
func nearest(word string, candidates []string) (string, bool) {
	if len(word) > 64 {
		return "", false
	}
	best, bestAt := "", 3
	for _, c := range candidates {
		far := distance(strings.ToLower(word), strings.ToLower(c))
		if far < bestAt && far*2 < max(len(word), len(c)) {
			best, bestAt = c, far
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, delete, replace or swap between two words.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
