-- What statements need where the schema is a cell, distributed by Citus (docs/scale-out.md). There, an insert takes no sub-select, and
-- an update no stable function inside of coalesce.

-- The epoch of the feed, for whoever writes a message.
create function feed_epoch() returns integer language plpgsql stable as $$
begin
    return (select installation.feed_epoch from installation);
end
$$;

-- The time so many times 24 hours later. That does not depend on a time zone, as adding days would.
create function days_after(at timestamptz, days integer) returns timestamptz language plpgsql immutable strict as $$
begin
    return at + make_interval(hours => 24 * days);
end
$$;

-- It looks for what it calls in its own schema, because sessions that Citus opens between its nodes have no search path of ours.
do $$
begin
    execute format('alter function keep_audit() set search_path to %I, pg_temp', current_schema());
end $$;
