-- Reports by the day. Whatever a merchant's report shows of one day is in one row, so that a report of 92 days reads 92 rows. A timer
-- adds the hours that are over, each once, and moves the merchant's mark in the same transaction; hours after the mark are read
-- where they are counted. The four arrays are the columns of a table of figures, one after the other: of which interface, which
-- figure, its value (a status code, say), and how often.
create table report_day (
    merchant_id uuid not null,
    day date not null,
    changed_at timestamptz not null,
    interfaces text[] compression lz4 not null,
    figures text[] compression lz4 not null,
    details text[] compression lz4 not null,
    counts bigint[] compression lz4 not null,
    primary key (merchant_id, day),
    constraint every_figure_has_its_count check (
        cardinality(interfaces) = cardinality(counts) and cardinality(figures) = cardinality(counts) and cardinality(details) = cardinality(counts)
    )
) with (fillfactor = 70);

-- What the timer has changed since it last summed up, and the merchants of a day.
create index report_day_by_change on report_day (changed_at);
create index report_day_by_day on report_day (day);

-- The time up to which a merchant's hours are in report_day.
create table report_mark (
    merchant_id uuid primary key,
    counted_until timestamptz not null
);

-- The same over all merchants.
create table report_total (
    day date primary key,
    summed_at timestamptz not null,
    interfaces text[] compression lz4 not null,
    figures text[] compression lz4 not null,
    details text[] compression lz4 not null,
    counts bigint[] compression lz4 not null
);
