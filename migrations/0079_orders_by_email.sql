-- no-transaction
-- A shopper's orders at one merchant, and at all of them: the console looks for a shopper without knowing the merchant. One index for
-- both, so that an order costs no more to write.
create index concurrently if not exists customer_order_of_shopper on customer_order (email_fingerprint, merchant_id, placed_at desc)
    where email_fingerprint is not null;
