-- no-transaction
-- A shopper's orders, newest first, found by the e-mail address alone. Built beside the traffic.
create index concurrently if not exists customer_order_by_email on customer_order (merchant_id, email_fingerprint, placed_at desc)
    where email_fingerprint is not null;
