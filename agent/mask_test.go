package agent

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// corpus reads a file of testdata, see mask_positive.txt for its form.
func corpus(t testing.TB, name string) (lines [][]string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", "¦", "")
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if line := sc.Text(); line != "" && line[0] != '#' {
			var fields []string
			for field := range strings.SplitSeq(line, "\t") {
				fields = append(fields, unescape.Replace(field))
			}
			lines = append(lines, fields)
		}
	}
	return lines
}

func TestP4_SecretsAreMasked(t *testing.T) {
	lines := corpus(t, "mask_positive.txt")
	if len(lines) < 60 {
		t.Fatalf("%d positives; 60 are the least", len(lines))
	}
	for _, l := range lines {
		if len(l) != 2 {
			t.Fatalf("not input, tab, output: %q", l)
		}
		if got := Mask(l[0]); got != l[1] {
			t.Errorf("Mask(%q)\n got %q\nwant %q", l[0], got, l[1])
		}
		if again := Mask(l[1]); again != l[1] {
			t.Errorf("masked twice: %q became %q", l[1], again)
		}
	}
}

func TestP4_OrdinaryTextStays(t *testing.T) {
	lines := corpus(t, "mask_negative.txt")
	if len(lines) < 60 {
		t.Fatalf("%d negatives; 60 are the least", len(lines))
	}
	for _, l := range lines {
		if got := Mask(l[0]); got != l[0] {
			t.Errorf("Mask(%q) = %q", l[0], got)
		}
	}
}

func TestP4_SecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "PGPASSWORD": true, "apiKey": true, "API_KEY": true, "api-key": true, "xApiKey": true, "accessToken": true,
		"client_secret": true, "GITHUB_TOKEN_2": true, "SECRET_KEY_V2": true, "Authorization": true, "PHPSESSID": true,
		"": false, "token_count": false, "tokens": false, "key": false, "nextPageToken": false, "secretName": false, "2": false, "v2": false, "-": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q) = %t", name, got)
		}
	}
}
