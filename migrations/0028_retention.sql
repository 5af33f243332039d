-- Everything that grows has an end; docs/retention.md lists the rule of each table.

-- How long orders and returns keep what is personal, in days after their last change.
alter table merchant add column retention_days integer not null default 400
    constraint retention_is_plausible check (retention_days between 30 and 3650);

-- When an entry of the failure queue was found resolved or discarded.
alter table failure add column ended_at timestamptz;

-- From when retention counts, if that is later than the last change that the row itself shows: a return of the order was changed
-- afterwards, or what is owed must go first.
alter table customer_order add column kept_from timestamptz;
alter table drop_ship_order add column kept_from timestamptz, add column erased boolean not null default false;
