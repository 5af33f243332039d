-- What holds traffic within its limits. None of it belongs to a merchant.

-- What nodes tell each other, once a second and for a minute. Not logged: after a crash nobody misses it, and each node
-- goes on with its own counts.
create unlogged table node_pulse (
    node_id uuid not null primary key,
    live_until timestamptz not null
) with (fillfactor = 50);

create unlogged table rate_count (
    node_id uuid not null,
    -- An IPv4 address, or the /64 of an IPv6 address.
    address text collate "C" not null,
    counted_at timestamptz not null,
    expires_at timestamptz not null,
    -- Requests in each of the last 60 seconds before counted_at, the oldest first, four bytes each.
    counts bytea not null constraint counts_are_of_sixty_seconds check (length(counts) = 240),
    primary key (node_id, address)
) with (fillfactor = 50);

-- What the operator lowered. A limit that was reset keeps its row, so that it can be told who reset it.
create table operator_limit (
    name text not null primary key,
    value bigint constraint limit_lets_something_through check (value >= 1),
    set_by text not null,
    set_at timestamptz not null
);
