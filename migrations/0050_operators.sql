-- The people who work with the console. These tables belong to no merchant: they are small and shared, reference tables on a cluster.
create table operator (
    operator_id uuid not null primary key,
    -- In lower case; people sign in with it.
    email text not null constraint operator_email_is_unique unique,
    name text not null,
    role text not null constraint operator_role_is_known check (role in ('viewer', 'support', 'manager', 'admin')),
    -- Argon2id, as a PHC string; none if the person signs in with the identity provider only, or has not set one yet.
    password_hash text,
    password_set_at timestamptz,
    -- The secret of the authenticator, sealed with a key that is not in the database.
    totp_secret bytea,
    totp_key_id text,
    -- The newest step whose code was used, so that none is used twice.
    totp_step bigint not null default 0,
    created_at timestamptz not null,
    created_by text not null,
    disabled_at timestamptz,
    constraint operator_email_is_in_lower_case check (email = lower(email)),
    constraint password_has_its_time check ((password_hash is null) = (password_set_at is null)),
    constraint totp_secret_has_its_key check ((totp_secret is null) = (totp_key_id is null))
);

-- A sign-in that succeeded. The browser has a token of 256 random bits, of which only the hash is stored.
create table operator_session (
    session_id uuid not null primary key,
    token_hash bytea not null
        constraint operator_session_token_is_unique unique
        constraint operator_session_hash_is_a_sha256 check (length(token_hash) = 32),
    operator_id uuid not null references operator,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    address text not null,
    agent text not null,
    -- How the person signed in: password, recovery or single_sign_on.
    means text not null,
    ended_at timestamptz
);
create index operator_session_by_operator on operator_session (operator_id, started_at desc);
create index operator_session_by_age on operator_session (started_at);

-- Codes for those who have lost their authenticator; each works once.
create table operator_recovery_code (
    operator_id uuid not null references operator,
    code_hash bytea not null constraint recovery_code_hash_is_a_sha256 check (length(code_hash) = 32),
    used_at timestamptz,
    primary key (operator_id, code_hash)
);

-- Browsers in which somebody has signed in before. They are not slowed down by what others try.
create table operator_device (
    device_id uuid not null primary key,
    operator_id uuid not null references operator,
    device_hash bytea not null
        constraint operator_device_is_unique unique
        constraint operator_device_hash_is_a_sha256 check (length(device_hash) = 32),
    agent text not null,
    added_at timestamptz not null,
    seen_at timestamptz not null
);
create index operator_device_by_operator on operator_device (operator_id);
create index operator_device_by_age on operator_device (seen_at);

-- One-time links: for the first administrator, for somebody who was invited, and after a reset.
create table operator_invitation (
    link_hash bytea not null primary key constraint invitation_hash_is_a_sha256 check (length(link_hash) = 32),
    purpose text not null constraint invitation_purpose_is_known check (purpose in ('first', 'invite', 'reset')),
    operator_id uuid references operator,
    made_by text not null,
    made_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    constraint the_first_link_names_nobody check ((operator_id is null) = (purpose = 'first'))
);
create index operator_invitation_by_operator on operator_invitation (operator_id);
create index operator_invitation_by_age on operator_invitation (expires_at);

-- Failed tries to sign in, counted by address, account and device. Keys are keyed hashes.
create table sign_in_trouble (
    key_hash bytea not null primary key,
    failures integer not null,
    -- The time of the next try.
    open_at timestamptz not null
);
create index sign_in_trouble_by_age on sign_in_trouble (open_at);
