-- Who may do what, and who did. `merchant` and `credential` are small and shared: reference tables on a cluster.
create table merchant (
    merchant_id uuid not null primary key,
    handle text not null constraint merchant_handle_is_unique unique,
    name text not null,
    technical_contact text,
    created_at timestamptz not null,
    paused_at timestamptz
);

create table credential (
    client_id text not null primary key,
    merchant_id uuid not null references merchant,
    -- The secret has 256 random bits, so that a plain hash is as good as a slow one.
    secret_hash bytea not null constraint secret_hash_is_a_sha256 check (length(secret_hash) = 32),
    scopes text not null,
    label text not null,
    issued_at timestamptz not null,
    revoked_at timestamptz
);

create index credential_by_merchant on credential (merchant_id, issued_at);

-- From here on every table belongs to merchants: its keys start with merchant_id, by which a cluster distributes it.
create table access_token (
    merchant_id uuid not null,
    token_hash bytea not null constraint token_hash_is_a_sha256 check (length(token_hash) = 32),
    client_id text not null references credential,
    scopes text not null,
    issued_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (merchant_id, token_hash),
    constraint token_expires_after_issue check (expires_at > issued_at)
);

-- Expired tokens are swept by merchant whenever a new one is issued.
create index access_token_by_expiry on access_token (merchant_id, expires_at);

create table audit (
    merchant_id uuid not null,
    audit_id uuid not null,
    actor text not null,
    action text not null,
    detail text not null,
    done_at timestamptz not null,
    primary key (merchant_id, audit_id)
);
