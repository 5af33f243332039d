-- Links in acknowledgements of withdrawals. Each opens one statement, for 90 days.
create table withdrawal_link (
    merchant_id uuid not null,
    -- SHA-256 of the secret in the link.
    link_hash bytea not null constraint withdrawal_link_hash_is_a_sha256 check (length(link_hash) = 32),
    withdrawal_id uuid not null,
    sent_at timestamptz not null,
    primary key (merchant_id, link_hash)
);
create index withdrawal_link_by_age on withdrawal_link (sent_at);
create index withdrawal_link_by_withdrawal on withdrawal_link (merchant_id, withdrawal_id);

-- The order that a statement is about, if its shopper has shown that it is theirs.
alter table withdrawal_draft add column order_identifier text collate "C";
