-- A merchant's portal as shoppers see it. Without a row, or where a column is null, the defaults hold: the merchant's name, UTC.
create table portal_setting (
    merchant_id uuid primary key,
    shop_name text constraint shop_name_is_not_empty check (shop_name <> ''),
    help_email text constraint help_email_is_not_empty check (help_email <> ''),
    -- A name of the IANA database, such as Europe/Berlin.
    time_zone text constraint time_zone_is_not_empty check (time_zone <> ''),
    -- What order numbers start with, and shoppers may leave out.
    number_prefix text constraint number_prefix_is_not_empty check (number_prefix <> ''),
    changed_at timestamptz not null
);

-- Host names that lead to one merchant's portal. A name is looked up before the merchant is known, so the table is small and shared,
-- as `credential` is: a reference table on a cluster.
create table portal_host (
    -- In lower case, non-ASCII labels in punycode, without a trailing dot.
    host text collate "C" primary key constraint portal_host_is_in_lower_case check (host = lower(host)),
    merchant_id uuid not null references merchant
);

create index portal_host_by_merchant on portal_host (merchant_id, host);
