-- The policies that a merchant had before the one in force, so that a change can be looked up and taken back. A column that is added to
-- return_policy is added here, too.
alter table return_policy
    -- Grows by one with each change.
    add column version integer not null default 1,
    -- Who made the last change; null if it was made before this was recorded.
    add column changed_by text;

create table former_policy (
    like return_policy including constraints,
    replaced_at timestamptz not null,
    primary key (merchant_id, version)
);
