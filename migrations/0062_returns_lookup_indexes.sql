-- no-transaction
-- Returns of all merchants, newest first, by status.
create index concurrently if not exists rma_newest on rma (status, rma_id);

-- The units that were received for a return: without an ASN, and against the lines of an ASN that name it.
create index concurrently if not exists receipt_by_rma on receipt (merchant_id, rma_id) where rma_id is not null;

create index concurrently if not exists receipt_by_line on receipt (merchant_id, asn_id, line_identifier) where asn_id is not null;
