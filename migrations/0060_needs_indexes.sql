-- no-transaction
-- What needs a person, over all merchants, oldest first.
create index concurrently if not exists rma_by_refund_due on rma (refund_due_at, rma_id) where refund_due_at is not null;

create index concurrently if not exists work_item_open on work_item (kind, item_id) where closed_at is null;

create index concurrently if not exists receiving_exception_open on receiving_exception (exception_id) where resolved_at is null;

create index concurrently if not exists endpoint_failing on endpoint_notice (failing_since) where failing_since is not null;

create index concurrently if not exists merchant_not_live on merchant (created_at) where live_at is null;
