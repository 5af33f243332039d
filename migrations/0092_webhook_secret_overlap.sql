-- The secret of a carrier's webhooks before the newest rotation, sealed, and until when it still signs.
alter table carrier_account
    add column old_webhook_secret bytea,
    add column old_webhook_secret_until timestamptz,
    add constraint an_old_webhook_secret_has_an_end check ((old_webhook_secret is null) = (old_webhook_secret_until is null));
