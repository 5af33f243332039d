-- The terms of a credential: until when it works, from where, and a second secret while it is being rotated.
alter table credential
    add column expires_at timestamptz,
    -- The networks from which it may be used; none: from anywhere.
    add column networks text[] not null default '{}',
    -- When a call was last answered for it, to a few minutes.
    add column last_used_at timestamptz,
    -- The secret before the newest rotation, and until when it still works.
    add column old_secret_hash bytea constraint old_secret_hash_is_a_sha256 check (length(old_secret_hash) = 32),
    add column old_secret_until timestamptz,
    -- True from a rotation until the first token is fetched with the new secret: its answer may have been lost.
    add column secret_unused boolean not null default false,
    add constraint an_old_secret_has_an_end check ((old_secret_hash is null) = (old_secret_until is null));
