-- A merchant can move from one cell to another. See docs/adr/0070-moving-a-merchant.md.

-- Merchants that do not live in this cell, or are about to leave it. Every transaction that writes a merchant's data reads this table
-- first and holds its lock on it until it ends; that is how whoever moves a merchant finds the transactions that began earlier.
create table moved_merchant (
    merchant_id uuid not null primary key,
    -- The cell in which the merchant lives, or to which it is about to move.
    cell text not null,
    -- True if nobody may write here. Before that, deliveries rest.
    closed boolean not null,
    marked_at timestamptz not null
);

-- Refuses a write of a merchant's data in a cell in which the merchant does not live.
create function must_live_here(of_merchant uuid) returns void language plpgsql as $$
begin
    if exists (select from moved_merchant where merchant_id = of_merchant and closed) then
        raise exception 'the merchant lives in another cell' using errcode = 'BH001';
    end if;
end
$$;

-- The same within a statement that has found the row itself.
create function refuse_moved(cell text) returns boolean language plpgsql immutable as $$
begin
    raise exception 'the merchant lives in another cell' using errcode = 'BH001';
end
$$;

-- How far the newest move of a merchant is. Only the table of the first cell has rows.
create table merchant_move (
    merchant_id uuid not null primary key,
    from_cell text not null,
    to_cell text not null,
    state text not null,
    -- What was written in the old cell before this transaction has been copied. Null before the first copy is complete.
    copied_before text,
    started_at timestamptz not null,
    changed_at timestamptz not null,
    paused_at timestamptz,
    -- The process that moves, and until when no other one takes over.
    mover uuid not null,
    held_until timestamptz not null,
    constraint a_move_has_a_known_state check (state in ('copying', 'paused', 'switched', 'cleaning', 'done', 'aborting')),
    constraint a_move_goes_to_another_cell check (from_cell <> to_cell)
);

-- Links a new entry to its merchant's chain, as before. An entry that comes with the number 0 was written before there was a chain, and
-- is taken as it is, as long as its merchant has no chain here.
create or replace function chain_audit() returns trigger language plpgsql as $$
declare
    head audit_head;
begin
    select * into head from audit_head where merchant_id = new.merchant_id for update;
    if not found then
        if new.sequence = 0 then
            new.sequence := null;
            new.previous_hash := null;
            new.hash := null;
            return new;
        end if;
        insert into audit_head (merchant_id, sequence, hash, anchor_sequence, anchor_hash)
        values (new.merchant_id, 0, '', 0, '')
        on conflict do nothing;
        select * into head from audit_head where merchant_id = new.merchant_id for update;
    end if;
    new.sequence := head.sequence + 1;
    new.previous_hash := head.hash;
    new.hash := audit_hash(
        head.hash, new.merchant_id, new.sequence, new.audit_id, new.actor, new.action, new.detail, new.before, new.after, new.done_at
    );
    update audit_head set sequence = new.sequence, hash = new.hash where merchant_id = new.merchant_id;
    return new;
end
$$;

-- Begins the chain of a merchant that arrives from another cell, where retention has deleted its oldest entries.
create function begin_audit_chain(of_merchant uuid, after_number bigint, after_hash bytea) returns void language plpgsql as $$
begin
    insert into audit_head (merchant_id, sequence, hash, anchor_sequence, anchor_hash)
    values (of_merchant, after_number, after_hash, after_number, after_hash)
    on conflict do nothing;
end
$$;

do $$
declare
    owned text;
begin
    foreach owned in array array['chain_audit()', 'begin_audit_chain(uuid, bigint, bytea)'] loop
        execute format('alter function %s security definer set search_path to %I, pg_temp', owned, current_schema());
        execute format('revoke execute on function %s from public', owned);
    end loop;
end $$;
