-- When the merchant has promised the refund by, counted from the first scan or receipt of returned goods. Null while nothing has come
-- back, and once everything that came back is refunded.
alter table rma add column refund_due_at timestamptz;

-- The merchant's promise.
alter table merchant add column refund_days integer not null default 14
    constraint refunds_are_promised_within_a_year check (refund_days between 1 and 365);

-- What each deliverer counts every few seconds, so that nobody else has to count.
alter table deliverer add column past_due bigint, add column oldest_due_at timestamptz, add column open_failures bigint;
