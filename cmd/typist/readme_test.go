package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"gopkg.in/yaml.v3"
)

func readReadme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadme_DiscordPermissions(t *testing.T) {
	const wanted = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages | discordgo.PermissionSendMessagesInThreads |
		discordgo.PermissionAttachFiles | discordgo.PermissionReadMessageHistory | discordgo.PermissionAddReactions
	if want := fmt.Sprintf("&permissions=%d\n", int64(wanted)); !strings.Contains(readReadme(t), want) {
		t.Errorf("the invitation in the README lacks %s", want)
	}
}

func TestReadme_SlackManifest(t *testing.T) {
	_, rest, _ := strings.Cut(readReadme(t), "<!-- manifest:begin -->")
	text, _, ok := strings.Cut(rest, "<!-- manifest:end -->")
	if !ok {
		t.Fatal("the README has lost the marks of the manifest")
	}
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "```yaml\n"), "```")
	var m struct {
		Features struct {
			AppHome struct {
				Messages bool `yaml:"messages_tab_enabled"`
				ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
			} `yaml:"app_home"`
			BotUser       map[string]any `yaml:"bot_user"`
			SlashCommands []struct {
				Command, Description string
				Escape               bool   `yaml:"should_escape"`
				Hint                 string `yaml:"usage_hint"`
			} `yaml:"slash_commands"`
			Shortcuts []struct {
				Name, Type, Description string
				Callback                string `yaml:"callback_id"`
			}
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			}
			SocketMode bool `yaml:"socket_mode_enabled"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("the manifest is not YAML: %v", err)
	}
	if !m.Features.AppHome.Messages || m.Features.AppHome.ReadOnly || !m.Settings.Interactivity.Enabled || !m.Settings.SocketMode || m.Features.BotUser == nil {
		t.Error("people can't write to the bot, press its buttons, or it can't connect")
	}
	// A scope that an event needs comes with its subscription.
	for event, scope := range map[string]string{
		"app_mention": "app_mentions:read", "message.channels": "channels:history", "message.groups": "groups:history",
		"message.im": "im:history", "message.mpim": "mpim:history",
	} {
		if !slices.Contains(m.Settings.Events.Bot, event) || !slices.Contains(m.OAuth.Scopes.Bot, scope) {
			t.Errorf("%s or %s is missing", event, scope)
		}
	}
	for _, c := range m.Features.SlashCommands {
		if !strings.HasPrefix(c.Command, "/") || c.Description == "" || !c.Escape {
			t.Errorf("slash command %+v", c)
		}
	}
	for _, s := range m.Features.Shortcuts { // Slack's limits: 24 characters of a name, 150 of a description
		if s.Type != "message" || s.Callback == "" || len(s.Name) > 24 || s.Description == "" || len(s.Description) > 150 {
			t.Errorf("shortcut %+v", s)
		}
	}
}
