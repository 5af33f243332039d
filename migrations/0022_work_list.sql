-- The operator's work list: cases of returns that a person must decide or mend. An open case is there once.
create table work_item (
    merchant_id uuid not null,
    item_id uuid not null,
    opened_at timestamptz not null,
    -- Null while it is open.
    closed_at timestamptz,
    -- What it is about; the names are those of the program.
    kind text not null,
    -- The return, or the order where there is no return.
    subject text collate "C" not null,
    reason text not null,
    primary key (merchant_id, item_id)
);
create unique index work_item_is_open_once on work_item (merchant_id, kind, subject) where closed_at is null;
create index work_item_by_age on work_item (merchant_id, item_id desc) where closed_at is null;
create index work_item_by_closing on work_item (closed_at) where closed_at is not null;
