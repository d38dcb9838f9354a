package config

import (
	"encoding/json"
	"maps"
	"slices"
)

// Schema is the file's JSON Schema (draft 2020-12), for editors. It knows what a single key
// allows; cross references are Load's.
func Schema() ([]byte, error) {
	root := objectOf(defaults().fields())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "typist configuration"
	return json.MarshalIndent(root, "", "  ")
}

func schemaOf(f field) map[string]any {
	var s map[string]any
	switch {
	case f.entryKey != "":
		s = map[string]any{"type": []string{"object", "null"}, "additionalProperties": objectOf(f.all())}
	case f.sub != nil || f.template != nil:
		s = objectOf(f.all())
	default:
		s = f.schema(f)
	}
	if f.doc != "" {
		s["description"] = f.doc
	}
	if f.required && s["type"] == "string" {
		s["minLength"] = 1
	}
	return s
}

// objectOf is a section. Fields that hold only for some types make one alternative per type.
func objectOf(fields []field) map[string]any {
	if slices.ContainsFunc(fields, func(f field) bool { return f.types != nil }) {
		var one []any
		for _, typ := range backendTypes {
			one = append(one, variant(fields, typ))
		}
		return map[string]any{"oneOf": one}
	}
	return object(fields)
}

func variant(fields []field, typ string) map[string]any {
	var own []field
	for _, f := range fields {
		if f.types == nil || slices.Contains(f.types, typ) {
			own = append(own, f)
		}
	}
	s := object(own)
	properties := s["properties"].(map[string]any)
	typed := maps.Clone(properties["type"].(map[string]any))
	delete(typed, "anyOf")
	typed["const"] = typ
	properties["type"] = typed
	return s
}

func object(fields []field) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.key] = schemaOf(f)
		if f.required {
			required = append(required, f.key)
		}
	}
	s := map[string]any{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["type"], s["required"] = "object", required
	}
	return s
}
