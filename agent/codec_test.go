package agent

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// eventTypes are the event structs that event.go declares.
func eventTypes(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range st.Fields.List {
			if id, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 && (id.Name == "Sub" || id.Name == "top") {
				names = append(names, spec.Name.Name)
			}
		}
		return true
	})
	return names
}

func TestA1_CodecKnowsEveryKind(t *testing.T) {
	var known []string
	for name, decode := range decoders {
		ev, err := decode([]byte(`{}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := typeName(ev); got != name {
			t.Errorf("typeName(%T) = %q, decoded by %q", ev, got, name)
		}
		known = append(known, reflect.TypeOf(ev).Name())
	}
	want := eventTypes(t)
	slices.Sort(known)
	slices.Sort(want)
	if len(want) < 20 || !slices.Equal(known, want) {
		t.Errorf("codec knows\n%v\nevent.go declares\n%v", known, want)
	}
}

// anyEvent draws events of every kind with every field set or not.
func anyEvent() *rapid.Generator[Event] {
	names := make([]string, 0, len(decoders))
	for name := range decoders {
		names = append(names, name)
	}
	slices.Sort(names)
	return rapid.Custom(func(t *rapid.T) Event {
		ev, _ := decoders[rapid.SampledFrom(names).Draw(t, "kind")]([]byte(`{}`))
		v := reflect.New(reflect.TypeOf(ev)).Elem()
		fill(t, v)
		return v.Interface().(Event)
	})
}

func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[top]() {
			return
		}
		for i := range v.NumField() {
			if tag := v.Type().Field(i).Tag.Get("json"); tag != "-" {
				fill(t, v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "s"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "n"))
	case reflect.Slice:
		n := rapid.IntRange(1, 3).Draw(t, "len")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	default:
		t.Fatalf("fill: %s", v.Type())
	}
}

func TestA1_EveryEventRoundTrips(t *testing.T) {
	gen := anyEvent()
	rapid.Check(t, func(t *rapid.T) {
		want := gen.Draw(t, "event")
		b, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n got %#v\nwant %#v", b, got, want)
		}
	})
}

func TestA1_EncodedForm(t *testing.T) {
	for _, c := range []struct {
		ev   Event
		want string
	}{
		{TextContent{ID: "t1", Delta: "Hello"}, `{"type":"TEXT_MESSAGE_CONTENT","id":"t1","delta":"Hello"}`},
		{SubagentFinished{}, `{"type":"SUBAGENT_FINISHED"}`},
		{RunFinished{RunID: "r", Outcome: Success}, `{"type":"RUN_FINISHED","runId":"r","outcome":"success"}`},
		{RunError{RunID: "r", Failure: Failure{Kind: RateLimited, RetryAfter: time.Second, Err: errors.New("secret")}},
			`{"type":"RUN_ERROR","runId":"r","failure":{"kind":"rate_limited","retryAfter":1000000000}}`},
	} {
		got, err := Encode(c.ev)
		if err != nil || string(got) != c.want {
			t.Errorf("Encode(%#v) = %s, %v, want %s", c.ev, got, err, c.want)
		}
	}
}

func TestA1_DecodeRefusesTheUnknown(t *testing.T) {
	if _, err := Decode([]byte(`{"type":"TEXT_MESSAGE_NEWS"}`)); !errors.Is(err, ErrUnknownEvent) || !strings.Contains(err.Error(), "TEXT_MESSAGE_NEWS") {
		t.Errorf("err = %v", err)
	}
	if _, err := Encode(nil); !errors.Is(err, ErrUnknownEvent) {
		t.Errorf("Encode(nil): %v", err)
	}
	for _, bad := range []string{``, `[]`, `{"type":`, `{"type":"USAGE","input":"many"}`} {
		if ev, err := Decode([]byte(bad)); err == nil {
			t.Errorf("Decode(%q) = %#v", bad, ev)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for name := range decoders {
		f.Add([]byte(`{"type":"` + name + `","id":"1","subagent":"s","data":"AA==","approval":{"options":[{"id":"a"}]}}`))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ev, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Encode(ev)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil || typeName(back) != typeName(ev) {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
