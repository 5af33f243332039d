-- The keys of the installation are not in the database. This is what it takes to notice a wrong one, and to rotate them.
create table installation_key (
    kind text not null constraint kind_of_key_is_known check (kind in ('sealing', 'fingerprint')),
    key_id text not null,
    -- A keyed hash of the id, which says nothing about the key.
    check_value bytea not null constraint check_value_has_16_bytes check (length(check_value) = 16),
    first_used_at timestamptz not null,
    -- Since when it is used for what is new: the newest one is.
    activated_at timestamptz,
    -- Since when nothing needs it any more.
    retired_at timestamptz,
    primary key (kind, key_id)
);

-- A merchant's data key, with which its secrets are sealed. It is itself sealed with the installation's key `key_id`. Without it
-- nothing that it sealed opens any more.
create table merchant_key (
    merchant_id uuid not null primary key,
    key_id text not null,
    sealed bytea not null,
    made_at timestamptz not null
);

-- How far a merchant's fingerprints have been computed anew with the key `key_id`.
create table fingerprint_progress (
    merchant_id uuid not null primary key,
    key_id text not null,
    -- The last order that was looked at.
    after_identifier text not null,
    orders bigint not null,
    done_at timestamptz
);
