-- What the portal says of withdrawal from contracts.
alter table portal_setting
    -- Days from shipping to delivery, where nobody reports the delivery. Null: the default.
    add column transit_days smallint constraint transit_days_are_few check (transit_days between 0 and 90),
    -- Goods that are exempt, each with its legal ground, such as made_to_order=custom, or no_consumers for the whole shop.
    add column exemptions text[] not null default '{}';

-- Statements that shoppers have not confirmed yet.
create table withdrawal_draft (
    merchant_id uuid not null,
    -- SHA-256 of the secret in the shopper's cookie.
    session_hash bytea not null,
    statement text not null,
    changed_at timestamptz not null,
    primary key (merchant_id, session_hash)
);
create index withdrawal_draft_by_age on withdrawal_draft (changed_at);

-- Statements of withdrawal from a contract, as they were made.
create table withdrawal (
    merchant_id uuid not null,
    withdrawal_id uuid not null,
    -- Made to be read out, such as W-7KQ4-XM92.
    reference text collate "C" not null,
    received_at timestamptz not null,
    -- The session that confirmed it, so that a second click confirms nothing more.
    session_hash bytea not null,
    -- The code of the language in which it was made.
    language text not null,
    name text not null,
    email text not null,
    -- The order as the shopper named it.
    order_words text not null,
    -- The exact text that the shopper confirmed.
    statement text not null,
    -- The order that it is about; null until it is known.
    order_identifier text collate "C",
    -- Chosen units by order line, as JSON; null for the whole order.
    goods text,
    -- The last day of the period, and whether the statement was made in it; null while that is unknown.
    last_day date,
    in_time boolean,
    -- The return of the goods, once it is started.
    rma_identifier text collate "C",
    erased boolean not null default false,
    primary key (merchant_id, withdrawal_id),
    constraint a_reference_is_used_once unique (merchant_id, reference),
    constraint a_statement_is_confirmed_once unique (merchant_id, session_hash)
);
create index withdrawal_by_order on withdrawal (merchant_id, order_identifier) where order_identifier is not null;
create index withdrawal_by_return on withdrawal (merchant_id, rma_identifier) where rma_identifier is not null;
-- Those that no order's retention ends.
create index withdrawal_unmatched_by_age on withdrawal (merchant_id, received_at) where order_identifier is null;
