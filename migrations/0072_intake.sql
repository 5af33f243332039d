-- What is kept of a refused message: the places at fault and what is around them, without anything personal, as JSON. Null if it was not
-- JSON, and for messages that were refused before this was kept.
alter table intake_refusal add column excerpt text compression lz4;

-- Warnings about orders by the day: how often a merchant was told of each field that something does not add up. Each process counts in
-- memory and adds its counts every few seconds, so that no order waits for a row that others count in.
create table warning_day (
    merchant_id uuid not null,
    day date not null,
    -- The field, without positions: `items.product_amount_cents`.
    kind text collate "C" not null,
    count bigint not null constraint warnings_are_counted check (count > 0),
    primary key (merchant_id, day, kind)
) with (fillfactor = 70);

-- The merchants of a day, and what is too old.
create index warning_day_by_day on warning_day (day, merchant_id, kind);
