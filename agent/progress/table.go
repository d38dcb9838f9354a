package progress

import "typist/agent"

// Table holds every word that people see in one language (P15). Texts with something to fill in
// are unexported and have a method in phrases.go.
type Table struct {
	Lang Lang

	// The progress message. StatusX stand behind the bot's name in a platform's status line.
	Working         string
	Thinking        string
	Thought         string // a finished block whose duration nobody knows
	Stopping        string
	Interrupted     string
	WaitingApproval string
	CutShort        string // of a block that the run's end cut
	Tool            string // one without a name
	Subagent        string // one without a name
	NoAnswer        string // the run ended without any text
	StatusWorking   string
	StatusThinking  string
	StatusStopping  string
	StatusWaiting   string

	thinkingFor, thoughtFor, stopped, worked string
	workedSteps, earlierSteps                plural
	earlierEntries, moreSubagents            plural
	retrying, statusRuns, statusStep         string
	units                                    units

	// Buttons. An approval has Approve and Deny where the agent has no names of its own.
	Stop, Resume, Retry, Details, Approve, Deny string
	RunAgain, Skip                              string // answers to an unknown outcome (S4)

	// Why a run failed and what to do, by kind (S3); later replaces the advice to press Retry
	// where the backend said when.
	failures      map[agent.FailureKind]string
	otherFailure  string
	retryNow      string
	retryAfter    string
	unknown       string // outcome of a tool (S4)
	toolUndecided string // an approval that nobody decided in time
	toolUnasked   string // an approval whose question could not be posted

	// Stop, retry, new, branch.
	NothingRuns    string
	dropped        plural // waiting messages, by a stop
	NothingToRetry string
	Answering      string // /retry answers again
	Redelivered    string // /retry sent the stored answer again
	NewStarted     string
	BranchHow      string
	Branched       string
	BranchUnknown  string
	EditIgnored    string // the edited message is too old, or edits are ignored

	// The queue (S10).
	queued    plural
	queueFull plural

	// Notices that only the one who pressed or asked sees.
	RunOver     string // the button's run has ended
	ButtonOld   string
	Busy        string // a run has to end first
	MaybeLost   string // an answer whose delivery a restart left unknown
	NotAllowed  string
	Decided     string // somebody else was faster
	approved    string
	denied      string
	tooFast     string
	TryLater    string // the store is down
	fileTooBig  string
	fileUnread  string
	filesUnread string
	fileUnsent  string
	NoFileKinds string // a kind of file that no agent takes

	// Pairing (C2).
	pairingCode string
	pairingAsk  string
	paired      string
	PairingOK   string // to the person

	// Commands (C8).
	commands    map[string]string
	HelpIntro   string
	badValue    string
	unknownCmd  string
	settingIs   string
	settingSet  string
	settingBack string
	typingIs    string
	sources     map[string]string
	StatusIdle  string
	statusFor   string
	waiting     plural
	statusAgent string

	// /heartbeat.
	HeartbeatOff     string
	heartbeatEvery   string
	HeartbeatStarted string
	HeartbeatBusy    string
	heartbeatLost    string
}

// plural is a text by number; Other alone where a language does not tell them apart.
type plural struct{ One, Other string }

// units write durations: from "{n}s" over "{n}m" to "{n}h", and what is under a second.
type units struct{ Second, Minute, Hour, Joint, Under string }

// Commands lists the names of the commands in the order of a menu (C8).
func Commands() []string {
	return []string{"help", "status", "stop", "retry", "new", "view", "typing", "reasoning", "branch", "heartbeat"}
}
