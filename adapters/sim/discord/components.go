package discord

import "unicode/utf8"

// component is an action row or, in one, a button.
type component struct {
	Type       int         `json:"type"`
	ID         int         `json:"id,omitempty"`
	Components []component `json:"components,omitempty"`
	Style      int         `json:"style,omitempty"`
	Label      string      `json:"label,omitempty"`
	CustomID   string      `json:"custom_id,omitempty"`
	URL        string      `json:"url,omitempty"`
	Disabled   bool        `json:"disabled,omitempty"`
	Emoji      any         `json:"emoji,omitempty"`
}

const (
	componentRow    = 1
	componentButton = 2
	styleLink       = 5
)

var styleNames = map[int]string{1: "primary", 2: "", 3: "success", 4: "danger", 5: "link"}

// checkComponents holds Discord's limits: at most 5 rows of 1 to 5 buttons, custom ids of 1 to
// 100 characters that are unique in the message, labels of at most 80.
func checkComponents(rows []component) *failure {
	if len(rows) > 5 {
		return invalidForm("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if row.Type != componentRow {
			return invalidForm("components.0.type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		}
		if len(row.Components) < 1 || len(row.Components) > 5 {
			return invalidForm("components.0.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
		}
		for _, b := range row.Components {
			switch id := utf8.RuneCountInString(b.CustomID); {
			case b.Type != componentButton:
				return invalidForm("components.0.components.0.type", "UNION_TYPE_CHOICES", "unknown component")
			case b.Style < 1 || b.Style > 5:
				return invalidForm("components.0.components.0.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5}.")
			case utf8.RuneCountInString(b.Label) > 80:
				return invalidForm("components.0.components.0.label", "BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.")
			case b.Label == "" && b.Emoji == nil:
				return invalidForm("components.0.components.0", "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A label or an emoji is required")
			case b.Style == styleLink && b.URL == "":
				return invalidForm("components.0.components.0.url", "BASE_TYPE_REQUIRED", "This field is required")
			case b.Style == styleLink:
			case id < 1 || id > 100:
				return invalidForm("components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
			case seen[b.CustomID]:
				return invalidForm("components.0.components.0.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
			default:
				seen[b.CustomID] = true
			}
		}
	}
	return nil
}

// button finds a button of a message.
func (m *record) button(data string) bool {
	for _, row := range m.components {
		for _, b := range row.Components {
			if b.CustomID == data && !b.Disabled {
				return true
			}
		}
	}
	return false
}
