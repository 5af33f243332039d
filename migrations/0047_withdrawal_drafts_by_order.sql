-- no-transaction
-- The unconfirmed statements about an order, for when its shopper is erased. Built beside the traffic.
create index concurrently if not exists withdrawal_draft_by_order on withdrawal_draft (merchant_id, order_identifier);
