-- A merchant's brand in the portal. Without a row, or where a column is null, the portal has its own look and shows nothing more.
create table brand (
    merchant_id uuid primary key,
    -- The one colour from which the others are derived.
    accent text constraint accent_is_a_colour check (accent ~ '^#[0-9a-f]{6}$'),
    -- Of corners, in pixels.
    radius smallint constraint radius_is_at_most_20 check (radius between 0 and 20),
    pill_buttons boolean not null,
    -- PNGs that were encoded anew, and the hashes that name them in paths.
    logo bytea,
    logo_hash text,
    -- For dark pages. Without one, the logo stands on white.
    dark_logo bytea,
    dark_logo_hash text,
    help_phone text constraint help_phone_is_not_empty check (help_phone <> ''),
    shop_url text constraint shop_url_is_not_empty check (shop_url <> ''),
    privacy_url text constraint privacy_url_is_not_empty check (privacy_url <> ''),
    terms_url text constraint terms_url_is_not_empty check (terms_url <> ''),
    changed_at timestamptz not null,
    constraint logos_have_hashes check ((logo is null) = (logo_hash is null) and (dark_logo is null) = (dark_logo_hash is null)),
    constraint dark_logo_needs_a_logo check (dark_logo is null or logo is not null)
);
-- A PNG does not get any smaller.
alter table brand alter column logo set storage external, alter column dark_logo set storage external;

-- The texts that a merchant words itself, by language.
create table brand_text (
    merchant_id uuid not null,
    language text collate "C" not null,
    name text collate "C" not null,
    wording text not null constraint wording_is_not_empty check (wording <> ''),
    primary key (merchant_id, language, name)
);
