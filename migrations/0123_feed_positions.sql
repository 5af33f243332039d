-- The messages of each merchant are numbered 1, 2, 3 … without a gap, in the order in which they are committed. The number is the
-- message's position in the feed.
--
-- The version before orders the feed by `transaction` and `feed_epoch`, up to `feed_end()`. It may still run beside this one, and
-- messages that are not numbered yet are taken in that order. So these columns, their defaults, the index `message_in_feed`,
-- `feed_epoch()`, `feed_end()` and `note_system()` stay until a later version drops them.

-- How far each merchant's feed is numbered. A transaction takes this row as its last lock, so merchants wait for themselves alone.
create table feed_counter (
    merchant_id uuid not null primary key,
    -- The newest position, and its message. 0 before the first message.
    last bigint not null,
    last_message uuid,
    -- The newest position that retention has dropped, and its message. The feed begins after it.
    floor bigint not null,
    floor_message uuid,
    -- True once whoever writes a message numbers it. Before that, messages are numbered afterwards, by a timer.
    live boolean not null,
    -- Positions up to this one are in the order of the version before, so its cursors can be translated. Null if there are none.
    numbered_before bigint,
    constraint floor_is_not_after_the_last check (0 <= floor and floor <= last),
    constraint last_message_iff_there_is_one check ((last = 0) = (last_message is null)),
    constraint floor_message_iff_there_is_one check ((floor = 0) = (floor_message is null))
) with (
    -- Room for the next versions of a row that changes with every message.
    fillfactor = 20,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

create index feed_counter_to_number on feed_counter (merchant_id) where not live;

-- Merchants that have written nothing yet are numbered from the start.
insert into feed_counter (merchant_id, last, floor, live)
select merchant.merchant_id, 0, 0, not exists (
    select from message
    where message.merchant_id = merchant.merchant_id and message.kind <> 'endpoint_test' and not message.internal
)
from merchant;

-- Drops partitions as before. Before messages are dropped, the floor of each of their merchants is raised to the highest position among
-- them, so that a reader who comes later learns that something is gone.
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
            if not owed then
                -- Nobody numbers a message now, because that takes the table too.
                execute format(
                    'update feed_counter set floor = dropped.position, floor_message = dropped.message_id
                     from feed_counter as counter cross join lateral (
                         select position, message_id from %I as message
                         where message.merchant_id = counter.merchant_id and message.position is not null
                         order by message.position desc
                         limit 1
                     ) as dropped
                     where feed_counter.merchant_id = counter.merchant_id and feed_counter.floor < dropped.position',
                    partition.name);
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

do $$
begin
    execute format('alter function drop_partitions(timestamptz) security definer set search_path to %I, pg_temp', current_schema());
end $$;

-- The position in the merchant's feed. Null for internal work and trials, which are in no feed, and for messages that are not numbered
-- yet. This comes last, because it takes the table from everybody.
alter table message add column position bigint;
