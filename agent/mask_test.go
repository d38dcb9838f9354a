package agent

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
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

// FuzzP4_Mask: no panic, and masking a masked text changes nothing.
func FuzzP4_Mask(f *testing.F) {
	for _, l := range corpus(f, "mask_positive.txt") {
		f.Add(l[0])
	}
	for _, l := range corpus(f, "mask_negative.txt") {
		f.Add(l[0])
	}
	f.Fuzz(func(t *testing.T, s string) {
		MaskPartial(s)
		once := Mask(s)
		if twice := Mask(once); twice != once {
			t.Fatalf("%q\n once %q\ntwice %q", s, once, twice)
		}
	})
}

// TestP4_GrowingTextNeverShowsASecret cuts each secret of the corpus short at every place behind
// its first characters: what stands there is masked already.
func TestP4_GrowingTextNeverShowsASecret(t *testing.T) {
	for _, c := range []struct{ text, secret string }{
		{"run with ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7"},
		{"use sk-" + "proj-Ab12cdEFgh34567890", "proj-Ab"},
		{"post xoxb-" + "123456789012-1234567890123", "1234"},
		{"jwt eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3", "hbGc"},
		{"poll 123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", "AAHd"},
		{"psql postgres://app:hunter2@db/x", "hunt"},
		{"mysql --password hunter2", "hunt"},
		{"curl -u joe:hunter2", "hunt"},
		{"PASSWORD=hunter2", "hunt"},
		{`{"password":"hunter2"}`, "hunt"},
		{"Authorization: Bearer hunter2hunter2", "hunt"},
	} {
		from := strings.Index(c.text, c.secret) + len(c.secret)
		for n := from; n <= len(c.text); n++ {
			if got := MaskPartial(c.text[:n]); strings.Contains(got, c.secret) {
				t.Errorf("MaskPartial(%q) = %q", c.text[:n], got)
			}
		}
	}
	for _, l := range corpus(t, "mask_negative.txt") {
		if got := MaskPartial(l[0] + " "); got != l[0]+" " {
			t.Errorf("MaskPartial(%q) = %q", l[0], got)
		}
	}
}

func TestP4_MaskingIsLinear(t *testing.T) {
	for _, part := range []string{"token:\"$a ", "://a:", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "password='", "a=b ", "eyJ.", "eyJ-", "SG.", "SG.a-",
		"--password \"", "1234567:", "hooks.slack.com/services/", "hooks.slack.com/services/a ", "hook ", "x-", "Mx.", "curl -u \"", "\",", "a/b/"} {
		text := strings.Repeat(part, 20_000)
		start := time.Now()
		Mask(text)
		MaskPartial(text)
		took := time.Since(start)
		if took > 2*time.Second { // linear time is some 20 ms, quadratic more than 5 s
			t.Errorf("%q: %s for %d bytes", part, took, len(text))
		}
	}
}

func BenchmarkP4_Mask(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"command", "curl -sS -H 'Authorization: Bearer abc123def456' https://api.example/v1/items?limit=5"},
		{"prose", strings.Repeat("The user wants to build it with tests; first look at the Makefile. ", 30)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Mask(c.text)
			}
		})
	}
}
