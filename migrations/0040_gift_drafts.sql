-- A gift is returned by whoever was given it, and its buyer must not learn of that: its draft belongs to the session that began it.
-- Null for the drafts of other orders, which are for everybody who knows the order.
alter table return_draft add column session_hash bytea;
