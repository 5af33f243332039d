-- The shopper's portal.

-- A shopper who has shown that an order is theirs.
create table portal_session (
    merchant_id uuid not null,
    -- SHA-256 of the cookie's value.
    session_hash bytea not null constraint portal_session_hash_is_a_sha256 check (length(session_hash) = 32),
    order_identifier text collate "C" not null,
    -- What they showed: the order's e-mail address or postal code, or a link that was sent to the address.
    proof text not null constraint portal_proof_is_known check (proof in ('email', 'zip', 'link')),
    started_at timestamptz not null,
    -- Written once a minute at most.
    seen_at timestamptz not null,
    primary key (merchant_id, session_hash)
);
create index portal_session_by_age on portal_session (seen_at);

-- A return that a shopper is putting together. An order has one at a time, whatever the number of tabs and devices.
create table return_draft (
    merchant_id uuid not null,
    draft_id uuid not null,
    order_identifier text collate "C" not null,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    -- Counts the changes, so that a confirmation names the draft that was shown.
    revision integer not null,
    -- The answers so far, as JSON.
    answers text not null,
    -- The return that it became.
    rma_identifier text collate "C",
    primary key (merchant_id, draft_id)
);
create unique index return_draft_is_open_once on return_draft (merchant_id, order_identifier) where rma_identifier is null;
create index return_draft_by_age on return_draft (changed_at);

-- Attempts to find an order that failed, counted by address, order and merchant. Keys are keyed hashes.
create table portal_miss (
    merchant_id uuid not null,
    key_hash bytea not null,
    misses integer not null,
    -- Then it counts from 0 again.
    expires_at timestamptz not null,
    primary key (merchant_id, key_hash)
);
create index portal_miss_by_expiry on portal_miss (expires_at);

-- The changes of a return after it was started, for its time line.
create table rma_event (
    merchant_id uuid not null,
    rma_id uuid not null,
    sequence bigint not null,
    happened_at timestamptz not null,
    event text not null,
    -- The parcel states of its units after the change, each once.
    parcels text[] not null,
    primary key (merchant_id, rma_id, sequence)
);
