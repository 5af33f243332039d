-- An ASN of ten thousand lines costs no more for each of them than one of ten.

-- Closing goes through the returns of an ASN by name, some at a time.
create index asn_line_by_return on asn_line (merchant_id, asn_id, reference_identifier) where reference_type = 'RMA';

-- A unit that comes late settles what was missing of its line.
create index receiving_exception_short on receiving_exception (merchant_id, asn_number, line_identifier)
    where exception = 'short' and resolved_at is null;
