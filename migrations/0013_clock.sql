-- A sandbox's clock can be moved ahead of real time, so that retries, reminders and expiry can be watched. All processes on
-- this database go by the same clock. Nobody moves it back: what was written by it would then lie in the future.
alter table installation
    add column clock_ahead_us bigint not null default 0
        constraint clock_is_ten_years_ahead_at_most check (clock_ahead_us between 0 and 315360000000000),
    add column clock_moved_by text,
    add column clock_moved_at timestamptz,
    add constraint clock_of_production_is_never_moved check (mode = 'sandbox' or clock_ahead_us = 0),
    add constraint clock_is_ahead_iff_somebody_moved_it
        check ((clock_ahead_us > 0) = (clock_moved_by is not null) and (clock_moved_by is null) = (clock_moved_at is null));

create function refuse_to_turn_back() returns trigger language plpgsql as $$
begin
    raise exception 'the clock never goes back';
end
$$;

create trigger clock_never_goes_back
    before update of clock_ahead_us on installation
    for each row when (new.clock_ahead_us < old.clock_ahead_us) execute function refuse_to_turn_back();

-- As before, but whoever makes days waits for whoever else does. A clock that is moved while a deliverer makes its days
-- would otherwise find a day absent and, a moment later, there already.
create or replace function make_partitions(first timestamptz, days integer) returns integer language plpgsql as $$
declare
    of text;
    day timestamptz;
    name text;
    made integer := 0;
begin
    -- Writers go on meanwhile.
    lock table only message in share update exclusive mode;
    foreach of in array array['message', 'attempt'] loop
        for offset_days in 0 .. days - 1 loop
            day := date_trunc('day', first, 'UTC') + make_interval(days => offset_days);
            name := of || '_' || to_char(day at time zone 'UTC', 'YYYYMMDD');
            if to_regclass(name) is null then
                execute format('create table %I partition of %I for values from (%L) to (%L)',
                    name, of, first_id(day), first_id(day + interval '1 day'));
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end
$$;
