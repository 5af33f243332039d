-- Mails to shoppers: what a merchant's mails say of their sender, and which of them are not sent. No row: the defaults.
create table mail_setting (
    merchant_id uuid primary key,
    -- The portal's shop name unless set.
    sender_name text,
    -- The portal's help address unless set.
    reply_to text,
    -- Names of mails, such as mail.reminder.
    switched_off text[] not null,
    changed_at timestamptz not null
);

-- Links in mails about returns. Each opens one return, for 90 days.
create table return_link (
    merchant_id uuid not null,
    -- SHA-256 of the secret in the link.
    link_hash bytea not null constraint return_link_hash_is_a_sha256 check (length(link_hash) = 32),
    rma_id uuid not null,
    sent_at timestamptz not null,
    primary key (merchant_id, link_hash)
);
create index return_link_by_age on return_link (sent_at);
create index return_link_by_return on return_link (merchant_id, rma_id);

-- A session that such a link opened is for one return, until its shopper shows more.
alter table portal_session
    add column rma_identifier text collate "C",
    drop constraint portal_proof_is_known,
    add constraint portal_proof_is_known check (proof in ('email', 'zip', 'link', 'return_link')),
    add constraint session_of_a_return_link_has_a_return check (proof <> 'return_link' or rma_identifier is not null);
