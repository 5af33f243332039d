-- The fingerprint key with which a personal token was hashed; none: the one before the first rotation.
alter table operator_token add column key_id text;
