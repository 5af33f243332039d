-- Reports of returns. A merchant's days (report_day) also tell what became of the returns that were started on them. They have a mark
-- of their own, so that returns from before this migration are counted, too.
alter table report_mark add column returns_until timestamptz not null default '-infinity';

-- What a label cost. Labels that were bought before it was asked for have no price.
alter table label
    add column cost_cents bigint constraint cost_is_not_negative check (cost_cents >= 0),
    add column currency text;
