-- A merchant's way to live. Whoever is here already is live.
alter table merchant
    add column live_at timestamptz,
    -- Who decided it.
    add column live_by text,
    -- When the first order was seen, by a timer; orders themselves only keep when they last came.
    add column first_order_at timestamptz,
    add constraint live_by_somebody check ((live_at is null) = (live_by is null));

update merchant set live_at = created_at, live_by = 'migrate';

alter table credential
    -- The last characters of the secret, by which people tell secrets apart.
    add column secret_end text constraint secret_end_has_four_characters check (length(secret_end) = 4),
    -- When the first and the newest token were fetched with it; the newest one to the minute.
    add column first_token_at timestamptz,
    add column last_token_at timestamptz,
    add constraint a_first_token_has_a_last check ((first_token_at is null) = (last_token_at is null));
