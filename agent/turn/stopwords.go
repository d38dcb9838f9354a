package turn

import (
	"strings"
	"unicode"
)

// stopWords are the messages that, alone, mean "stop" (S2): en, de, fr, es, pt, it, nl, pl, ru,
// uk, tr, ja, zh, ko, ar, hi. Only words that nobody sends to an agent as a question or a task.
var stopWords = map[string]bool{
	"stop": true, "stop it": true, "stop please": true, "please stop": true, "cancel": true, "abort": true, "halt": true,
	"stopp": true, "halt an": true, "anhalten": true, "abbrechen": true, "aufhören": true, "hör auf": true, "bitte stopp": true, "bitte stop": true,
	"arrête": true, "arrete": true, "arrêter": true, "arrêtez": true, "annule": true, "annuler": true, "stoppe": true,
	"para": true, "detente": true, "detén": true, "deten": true, "detener": true, "alto": true, "cancela": true, "cancelar": true, "basta": true,
	"pare": true, "parar": true, "pára": true, "interrompe": true, "interromper": true,
	"ferma": true, "fermati": true, "annulla": true,
	"stoppen": true, "ophouden": true,
	"zatrzymaj": true, "przerwij": true,
	"стоп": true, "остановись": true, "остановить": true, "отмена": true, "хватит": true, "прекрати": true, "зупинись": true,
	"dur": true, "durdur": true, "iptal": true,
	"止めて": true, "やめて": true, "停止": true, "ストップ": true, "中止": true, "キャンセル": true, "とめて": true, "止まれ": true,
	"停": true, "停下": true, "停下来": true, "取消": true, "别说了": true, "住手": true, "暂停": true, "終止": true, "终止": true,
	"중지": true, "멈춰": true, "그만": true, "취소": true,
	"توقف": true, "قف": true, "إلغاء": true,
	"रुको": true, "रोको": true,
}

// IsStopWord reports whether the whole message is a stop word, whatever its case, punctuation
// and emoji.
func IsStopWord(text string) bool {
	if len(text) > 64 {
		return false
	}
	clean := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsMark(c):
			return unicode.ToLower(c)
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsNumber(c):
			return c
		}
		return -1
	}, text)
	return stopWords[strings.Join(strings.Fields(clean), " ")]
}
