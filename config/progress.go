package config

import "time"

// Progress is how a run's progress message looks and behaves.
type Progress struct {
	View        string        // P7
	Delay       time.Duration // P1
	NotifyAfter time.Duration // P12
	Language    string        // P15
}

func (p *Progress) fields() []field {
	return []field{
		enum("view", &p.View, []string{"overview", "summary", "detail"}, "How much the progress message shows."),
		seconds("delaySeconds", &p.Delay, 0, "A run that uses no tool gets a progress message after this time."),
		seconds("notifyAfterSeconds", &p.NotifyAfter, 0, "The answer to a longer run is a new message, so that it notifies."),
		enum("language", &p.Language, []string{"en", "de", "ja", "zh"}, "Language of typist's own words."),
	}
}
