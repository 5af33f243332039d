-- Links that the merchant makes for shoppers who are logged in to the shop, and for support. Each opens one order, once. They stand
-- beside the mailed ones: a link has an order, or the fingerprint of an e-mail address. `sent_at` is when the merchant got it.
alter table portal_link
    alter column email_fingerprint drop not null,
    add column order_identifier text collate "C",
    -- Who acts for the shopper, if it is support.
    add column support_name text constraint support_name_is_not_empty check (support_name <> ''),
    add constraint portal_link_opens_an_order_or_those_of_an_address check ((order_identifier is null) <> (email_fingerprint is null)),
    add constraint support_acts_on_one_order check (support_name is null or order_identifier is not null);

alter table portal_session
    -- Who acts for the shopper in this session, if it is support.
    add column support_name text constraint support_name_is_not_empty check (support_name <> ''),
    drop constraint portal_proof_is_known,
    add constraint portal_proof_is_known check (proof in ('email', 'zip', 'link', 'return_link', 'merchant'));
