// Package e2e runs the built program against the miniature platforms, as a person would.
package e2e
