-- no-transaction
create index concurrently if not exists home_audit_by_sequence on home_audit (sequence);
