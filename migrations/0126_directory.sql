-- The directory of cells (docs/scale-out.md): which cells there are, and where each merchant lives. Only the tables of the first cell
-- are used. Where there is one cell, they stay as they are here.

-- The cells that were added. New merchants are put into open ones. The first cell is open without a row.
create table cell (
    name text not null primary key,
    state text not null,
    changed_at timestamptz not null,
    constraint cell_is_open_or_draining check (state in ('open', 'draining'))
);

-- The cell of each merchant. A merchant without a row lives in the first cell.
create table merchant_cell (
    merchant_id uuid not null primary key,
    handle text not null,
    cell text not null,
    -- Reserved until the merchant is in its cell: whoever adds it again goes on from there.
    state text not null,
    placed_at timestamptz not null,
    constraint handle_is_placed_once unique (handle),
    constraint merchant_is_reserved_here_or_moving check (state in ('reserved', 'here', 'moving'))
);

-- Counts the changes of the directory, so that nodes learn that what they remember of it may be outdated.
create table directory (
    singleton boolean not null primary key,
    generation bigint not null,
    constraint directory_is_one_row check (singleton)
);

insert into directory (singleton, generation) values (true, 0);
