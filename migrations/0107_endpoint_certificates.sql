-- The certificate that we present to an endpoint, followed by its intermediates (DER), and its private key, sealed. A key is always
-- sealed with the merchant's data key, so that a rotation of the installation's keys leaves it alone.
alter table endpoint
    add column client_certificate bytea[],
    add column client_key bytea,
    add constraint client_certificate_has_its_key check ((client_certificate is null) = (client_key is null)),
    add constraint client_key_is_sealed_with_the_data_key check (client_key is null or key_id = '@merchant');
