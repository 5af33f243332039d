-- Links that were mailed to shoppers who do not have their order's number at hand. Each opens the orders of one e-mail address.
create table portal_link (
    merchant_id uuid not null,
    -- SHA-256 of the secret in the link.
    link_hash bytea not null constraint portal_link_hash_is_a_sha256 check (length(link_hash) = 32),
    -- Keyed fingerprint of the e-mail address that it was sent to.
    email_fingerprint bytea not null,
    sent_at timestamptz not null,
    primary key (merchant_id, link_hash)
);
create index portal_link_by_age on portal_link (sent_at);

-- Of a session that a link opened: the fingerprint of the e-mail address whose orders it may see.
alter table portal_session add column email_fingerprint bytea;
