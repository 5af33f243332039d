-- The QR code that a shopper shows instead of a printed label, as a PNG; empty if there is none. The default lets a version of the
-- program that does not know the column go on beside one that does.
alter table label add column qr_code bytea not null default '';
