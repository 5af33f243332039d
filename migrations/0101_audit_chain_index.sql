-- no-transaction
create index concurrently if not exists audit_by_sequence on audit (merchant_id, sequence);
