-- The client certificates that a credential is bound to: the SHA-256 of each (DER), and when it expires. None: it works without one.
alter table credential
    add column certificates bytea[] not null default '{}',
    add column certificates_until timestamptz[] not null default '{}',
    -- Two, so that a certificate can be renewed with an overlap.
    add constraint at_most_two_certificates check (cardinality(certificates) <= 2),
    add constraint every_certificate_has_an_end check (cardinality(certificates) = cardinality(certificates_until)),
    add constraint certificates_are_sha256 check (
        coalesce(length(certificates[1]), 32) = 32 and coalesce(length(certificates[2]), 32) = 32
    );
