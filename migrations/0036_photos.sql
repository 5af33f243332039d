-- Small copies of the photos of goods, by the URL in the merchant's orders that they come from. They show goods and no shopper.
create table photo (
    merchant_id uuid not null,
    -- SHA-256 of the URL.
    url_hash bytea not null constraint url_hash_is_a_sha256 check (octet_length(url_hash) = 32),
    fetched_at timestamptz not null,
    -- A JPEG; empty if it could not be had.
    picture bytea not null,
    primary key (merchant_id, url_hash)
);
-- A JPEG does not get any smaller.
alter table photo alter column picture set storage external;
create index photo_by_age on photo (fetched_at);
