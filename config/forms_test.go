package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestC2_EntriesThatMatchNobodyAreRefused: an entry that no person or group of the platform can
// have is an error that says what one looks like.
func TestC2_EntriesThatMatchNobodyAreRefused(t *testing.T) {
	for channel, test := range map[string]struct{ right, wrong, groups, noGroups, want string }{
		"telegram": {`1001, "1002", "@ann_b", "*"`, `ann; "role:1"; -100; "user:1"; "@a b"`, `-100123; "*"`, `1001; crew; "@crew"; "#crew"`, `allowed: a user id such as "1001"`},
		"discord":  {`2001, "@ann.b", "role:2402", "*"`, `ann; "role:"; "role:crew"; U3001; "@"; "@ann#1234"`, `2101; "*"`, `general; "#general"; "-1"; C1`, `role:ID`},
		"slack":    {`U3001, W42, "*"`, `"@ann"; ann; 3001; u3001; C1; "role:1"`, `C1; G2; "#general"; "*"`, `general; D1; 3001; "#"`, `a member id such as`},
	} {
		config := func(allow, groups string) string {
			return fmt.Sprintf("channels: {%s: {botToken: x, appToken: y, allowFrom: [%s], groups: {%s}}}", channel, allow, groups)
		}
		parse := func(text string) error {
			if channel != "slack" {
				text = strings.Replace(text, "appToken: y, ", "", 1)
			}
			_, err := Parse("typist.yaml", []byte(text), env())
			return err
		}
		if err := parse(config(test.right, "")); err != nil {
			t.Errorf("%s: %v", channel, err)
		}
		for entry := range strings.SplitSeq(test.wrong, "; ") {
			at := "channels." + channel + ".allowFrom[0]: can't be a person here"
			if err := parse(config(entry, "")); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: person %s: %v", channel, entry, err)
			}
			if err := parse(config("", `"*": {allowFrom: [`+entry+`]}`)); err == nil || !strings.Contains(err.Error(), "groups.*.allowFrom[0]: can't be") {
				t.Errorf("%s: person of a group %s: %v", channel, entry, err)
			}
		}
		for key := range strings.SplitSeq(test.groups, "; ") {
			if err := parse(config("", key+": {}")); err != nil {
				t.Errorf("%s: %v", channel, err)
			}
		}
		for key := range strings.SplitSeq(test.noGroups, "; ") {
			if err := parse(config("", key+": {}")); err == nil || !strings.Contains(err.Error(), "can't be a group here (allowed: ") {
				t.Errorf("%s: group %s: %v", channel, key, err)
			}
		}
	}
}
