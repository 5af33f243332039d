-- no-transaction
-- The drafts of an order that became returns. Built beside the traffic.
create index concurrently if not exists return_draft_by_order on return_draft (merchant_id, order_identifier);
