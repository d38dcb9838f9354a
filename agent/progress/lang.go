package progress

// Lang is the language of every word that people see (P15).
type Lang string

// The languages.
const (
	English  Lang = "en"
	German   Lang = "de"
	Japanese Lang = "ja"
	Chinese  Lang = "zh"
)

// Langs lists the languages.
func Langs() []Lang { return []Lang{English, German, Japanese, Chinese} }

// ParseLang reads a language's name. The error lists the allowed ones.
func ParseLang(s string) (Lang, error) { return parse("language", s, Langs()) }

// Words is the table of a language; English for one that has none.
func Words(lang Lang) *Table {
	switch lang {
	case German:
		return &german
	case Japanese:
		return &japanese
	case Chinese:
		return &chinese
	case English:
	}
	return &english
}
