package telegram

import (
	"context"
	"net/url"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// webhook asks whether a webhook is set, which shuts polling out, and tells of one, since it may
// serve another program; "" = none is.
func (a *Adapter) webhook(ctx context.Context) (address string, err error) {
	var info *models.WebhookInfo
	err = a.call(ctx, func(ctx context.Context) (err error) {
		info, err = a.bot.GetWebhookInfo(ctx)
		return err
	})
	if err != nil || info == nil || info.URL == "" {
		return "", err
	}
	host := "unknown"
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" { // the path is often a secret
		host = u.Host
	}
	a.log.Warn("a webhook is set for this bot; it is removed now, because long polling can't work beside it. "+
		"If another program needs it, give this one a bot of its own and set the webhook again",
		"host", host, "waiting", info.PendingUpdateCount)
	return info.URL, nil
}

// removeWebhook keeps what waits for delivery.
func (a *Adapter) removeWebhook(ctx context.Context) error {
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.bot.DeleteWebhook(ctx, &bot.DeleteWebhookParams{})
		return err
	})
}
