-- no-transaction
-- The changes of a merchant's returns in a range of hours, for its reports.
create index concurrently if not exists rma_event_by_time on rma_event (merchant_id, happened_at);
