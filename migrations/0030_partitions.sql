-- Partitions are made apart and then attached, which no reader and no writer waits for; they are dropped by their true bounds, and
-- whoever drops gives up at once when somebody holds the table, such as a backup. From here on a partition holds a week. Days that
-- are there stay until their time is over.

-- The time that an id (UUID version 7) begins with.
create function time_of_id(id uuid) returns timestamptz language sql immutable as $$
    select to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)
$$;

-- The partitions of a table with the bounds by which PostgreSQL takes rows.
create function partitions_of(parent text) returns table (name text, from_id uuid, to_id uuid) language sql stable as $$
    select child.relname::text, bound[1]::uuid, bound[2]::uuid
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    cross join lateral regexp_match(pg_get_expr(child.relpartbound, child.oid), 'FROM \(''(.+)''\) TO \(''(.+)''\)') as bound
    where inhparent = parent::regclass and bound is not null
    order by 2
$$;

-- The time that retention goes by: this server's clock, and in a sandbox what its clock was moved by. A node whose own clock is wrong
-- ends nothing early.
create function shared_now() returns timestamptz language sql as $$
    select clock_timestamp() + make_interval(secs => clock_ahead_us / 1000000.0) from installation
$$;

-- Makes the partitions that are missing for `days` days from `first` on, and answers how many it made. Each ends with its week, or
-- where the next one begins.
create or replace function make_partitions(first timestamptz, days integer) returns integer language plpgsql as $$
declare
    begins constant timestamptz := date_trunc('day', first, 'UTC');
    ends constant timestamptz := begins + make_interval(hours => 24 * days);
    parent text;
    name text;
    at timestamptz;
    after timestamptz;
    before timestamptz;
    made integer := 0;
begin
    -- Whoever makes or drops partitions waits for whoever else does.
    perform pg_advisory_xact_lock(hashtext('backhaul.partitions'));
    foreach parent in array array['message', 'attempt'] loop
        at := begins;
        while at < ends loop
            select time_of_id(to_id) into after from partitions_of(parent) where from_id <= first_id(at) and to_id > first_id(at);
            if found then
                at := after;
                continue;
            end if;
            select max(time_of_id(to_id)) into after from partitions_of(parent) where to_id <= first_id(at);
            select min(time_of_id(from_id)) into before from partitions_of(parent) where from_id > first_id(at);
            after := greatest(after, date_trunc('week', at, 'UTC'));
            before := least(before, date_trunc('week', at, 'UTC') + interval '168 hours');
            name := parent || '_' || to_char(after at time zone 'UTC', 'YYYYMMDD');
            execute format('create table %I (like %I including all)', name, parent);
            execute format('alter table %I attach partition %I for values from (%L) to (%L)',
                parent, name, first_id(after), first_id(before));
            made := made + 1;
            at := before;
        end loop;
    end loop;
    return made;
end
$$;

-- Drops the partitions that ended before `keep_from`, but none younger than 30 days by the shared clock, and none of messages that
-- are still owed; answers the names of those kept because something of them is owed. Dropping needs the table for a moment. If it is
-- held, by a backup for example, this fails at once instead of having others wait behind it.
create or replace function drop_partitions(keep_from timestamptz) returns text[] language plpgsql set lock_timeout = '100ms' as $$
declare
    before constant uuid := first_id(least(keep_from, shared_now() - interval '720 hours'));
    partition record;
    owed boolean;
    kept text[] := '{}';
begin
    if not pg_try_advisory_xact_lock(hashtext('backhaul.partitions')) then
        return kept;
    end if;
    for partition in
        select parent, name, from_id, to_id
        from unnest(array['message', 'attempt']) as parent, lateral partitions_of(parent)
        where to_id <= before
        order by parent desc, from_id
    loop
        owed := false;
        if partition.parent = 'message' then
            owed := exists (select from delivery where message_id >= partition.from_id and message_id < partition.to_id);
            if not owed then
                -- Whoever is just sending a message again holds the table; after them, look once more.
                lock table only message in access exclusive mode;
                owed := exists (select from delivery where message_id >= partition.from_id and message_id < partition.to_id);
            end if;
        end if;
        if owed then
            kept := kept || partition.name;
        else
            execute format('drop table %I', partition.name);
        end if;
    end loop;
    return kept;
end
$$;
