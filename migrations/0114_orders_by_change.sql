-- no-transaction
-- Orders are listed by their last change. With the identifier, the list can be continued anywhere, however many orders changed at once.
create index concurrently if not exists customer_order_by_change on customer_order
    (merchant_id, (greatest(received_at, kept_from)), identifier)
    where digest <> '\x0000000000000000000000000000000000000000000000000000000000000000';
