-- The key of a suppressed shopper's fingerprint. What it was made of is not stored, so it cannot be computed anew: the key is needed
-- until the shopper is met again.
alter table suppression add column key_id text not null default '';
update suppression
set key_id = coalesce(
    (select key_id from installation_key where kind = 'fingerprint' and activated_at is not null order by activated_at desc limit 1), ''
);
