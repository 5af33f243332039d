-- The shoppers who were erased by their e-mail address, as keyed fingerprints: orders that they had placed by then are stored without
-- anything personal, also those that arrive for the first time. An order that they place later is a contract of its own.
create table suppression (
    merchant_id uuid not null,
    fingerprint bytea not null constraint fingerprint_is_truncated check (length(fingerprint) = 16),
    erased_at timestamptz not null,
    primary key (merchant_id, fingerprint)
);
