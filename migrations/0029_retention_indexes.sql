-- no-transaction
-- What ends by its age is found by its age, however much is stored. Built beside the traffic, one statement at a time.

-- An erased order has the digest zero, and leaves the index until the merchant sends the order again.
create index concurrently if not exists customer_order_by_last_change on customer_order
    (merchant_id, (greatest(received_at, kept_from)))
    where digest <> '\x0000000000000000000000000000000000000000000000000000000000000000';

create index concurrently if not exists drop_ship_order_by_last_change on drop_ship_order
    (merchant_id, (greatest(updated_at, kept_from)))
    where not erased and status in ('shipped', 'cancelled', 'rejected');

create index concurrently if not exists failure_just_ended on failure (merchant_id, message_id)
    where ended_at is null and state in ('resolved', 'discarded');

create index concurrently if not exists failure_by_end on failure (ended_at) where ended_at is not null;

create index concurrently if not exists retry_job_by_end on retry_job (ended_at) where ended_at is not null;

create index concurrently if not exists label_with_pdf on label (bought_at) where pdf <> '';
