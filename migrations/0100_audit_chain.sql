-- The audit trail tells what changed, and is chained: each entry holds the hash of the one before it and its own, so that an entry
-- that is altered, left out or put in between shows. Every merchant has a chain of its own.
alter table audit
    -- What changed, as JSON objects with the fields that differ.
    add column before text,
    add column after text,
    -- Null for entries from before there was a chain.
    add column sequence bigint,
    add column previous_hash bytea,
    add column hash bytea,
    add constraint chained_wholly_or_not_at_all check (num_nulls(sequence, previous_hash, hash) in (0, 3)) not valid;

-- Where a merchant's chain ends, and where it begins.
create table audit_head (
    merchant_id uuid not null primary key,
    -- The newest entry.
    sequence bigint not null,
    hash bytea not null,
    -- The newest entry that retention has deleted. The chain begins after it.
    anchor_sequence bigint not null,
    anchor_hash bytea not null,
    constraint anchor_is_not_after_the_head check (anchor_sequence <= sequence)
);

-- A text with its length before it, so that no two entries have the same bytes. Null has the length -1.
create function audit_bytes(field text) returns bytea language sql stable as $$
    select coalesce(int4send(octet_length(convert_to(field, 'UTF8'))) || convert_to(field, 'UTF8'), int4send(-1))
$$;

-- The hash of an entry. `store::merchants::audit_chain` computes the same without asking the database.
create function audit_hash(
    previous bytea, of_merchant uuid, number bigint, id uuid, actor text, action text, detail text, before text, after text,
    done_at timestamptz
) returns bytea language sql stable as $$
    select sha256(
        previous || uuid_send(of_merchant) || int8send(number) || uuid_send(id) || int8send((extract(epoch from done_at) * 1000000)::bigint)
        || audit_bytes(actor) || audit_bytes(action) || audit_bytes(detail) || audit_bytes(before) || audit_bytes(after)
    )
$$;

-- Links a new entry to its merchant's chain, whatever its insert says. The head is locked until the end of the transaction, which is
-- why entries are written as its last statement.
create function chain_audit() returns trigger language plpgsql as $$
declare
    head audit_head;
begin
    select * into head from audit_head where merchant_id = new.merchant_id for update;
    if not found then
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

create trigger audit_is_chained before insert on audit for each row execute function chain_audit();

-- Refuses whatever would change the audit trail, to its owner too. Only entries older than 7 years by the shared clock can go.
create function keep_audit() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and old.done_at <= shared_now() - interval '7 years' then
        return old;
    end if;
    raise exception '% is kept for 7 years and never changes', tg_table_name;
end
$$;

create trigger audit_never_changes before update or delete on audit for each row execute function keep_audit();

create function refuse_to_empty() returns trigger language plpgsql as $$
begin
    raise exception '% is never emptied', tg_table_name;
end
$$;

create trigger audit_is_never_emptied before truncate on audit for each statement execute function refuse_to_empty();

-- Deletes those of a merchant's entries that are older than 7 years by the shared clock. A chain loses its beginning only, and the
-- head keeps the hash of the last entry that went, from which the rest can still be verified.
create or replace function forget_audit(of_merchant uuid, entries uuid[]) returns void language plpgsql as $$
declare
    before_time constant timestamptz := shared_now() - interval '7 years';
    kept bigint;
    gone record;
begin
    delete from audit
    where merchant_id = of_merchant and audit_id = any(entries) and done_at <= before_time and sequence is null;
    perform from audit_head where merchant_id = of_merchant for update;
    select min(sequence) into kept
    from audit
    where merchant_id = of_merchant and sequence is not null and (done_at > before_time or audit_id <> all(entries));
    select sequence, hash into gone
    from audit
    where merchant_id = of_merchant and sequence < coalesce(kept, 9223372036854775807)
    order by sequence desc
    limit 1;
    if found then
        update audit_head set anchor_sequence = gone.sequence, anchor_hash = gone.hash where merchant_id = of_merchant;
        delete from audit where merchant_id = of_merchant and sequence <= gone.sequence;
    end if;
end
$$;

do $$
declare
    owned text;
begin
    foreach owned in array array['chain_audit()', 'forget_audit(uuid, uuid[])'] loop
        execute format('alter function %s security definer set search_path to %I, pg_temp', owned, current_schema());
        execute format('revoke execute on function %s from public', owned);
    end loop;
end $$;
