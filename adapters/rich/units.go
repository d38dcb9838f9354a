package rich

// UTF16Len is the length of s in UTF-16 units, in which Telegram counts.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
