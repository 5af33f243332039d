-- The audit trail of what belongs to no merchant is a chain of its own, like that of a merchant (0100).
alter table home_audit
    add column before text,
    add column after text,
    add column sequence bigint,
    add column previous_hash bytea,
    add column hash bytea,
    add constraint chained_wholly_or_not_at_all check (num_nulls(sequence, previous_hash, hash) in (0, 3)) not valid;

create table home_audit_head (
    singleton boolean not null primary key constraint there_is_one_home_chain check (singleton),
    sequence bigint not null,
    hash bytea not null,
    anchor_sequence bigint not null,
    anchor_hash bytea not null,
    constraint anchor_is_not_after_the_head check (anchor_sequence <= sequence)
);

insert into home_audit_head (singleton, sequence, hash, anchor_sequence, anchor_hash) values (true, 0, '', 0, '');

create function chain_home_audit() returns trigger language plpgsql as $$
declare
    head home_audit_head;
begin
    select * into strict head from home_audit_head for update;
    new.sequence := head.sequence + 1;
    new.previous_hash := head.hash;
    new.hash := audit_hash(
        head.hash, '00000000-0000-0000-0000-000000000000', new.sequence, new.audit_id, new.actor, new.action, new.detail, new.before,
        new.after, new.done_at
    );
    update home_audit_head set sequence = new.sequence, hash = new.hash;
    return new;
end
$$;

create trigger home_audit_is_chained before insert on home_audit for each row execute function chain_home_audit();
create trigger home_audit_never_changes before update or delete on home_audit for each row execute function keep_audit();
create trigger home_audit_is_never_emptied before truncate on home_audit for each statement execute function refuse_to_empty();

create or replace function forget_home_audit(entries uuid[]) returns void language plpgsql as $$
declare
    before_time constant timestamptz := shared_now() - interval '7 years';
    kept bigint;
    gone record;
begin
    delete from home_audit where audit_id = any(entries) and done_at <= before_time and sequence is null;
    perform from home_audit_head for update;
    select min(sequence) into kept
    from home_audit
    where sequence is not null and (done_at > before_time or audit_id <> all(entries));
    select sequence, hash into gone
    from home_audit
    where sequence < coalesce(kept, 9223372036854775807)
    order by sequence desc
    limit 1;
    if found then
        update home_audit_head set anchor_sequence = gone.sequence, anchor_hash = gone.hash;
        delete from home_audit where sequence <= gone.sequence;
    end if;
end
$$;

do $$
declare
    owned text;
begin
    foreach owned in array array['chain_home_audit()', 'forget_home_audit(uuid[])'] loop
        execute format('alter function %s security definer set search_path to %I, pg_temp', owned, current_schema());
        execute format('revoke execute on function %s from public', owned);
    end loop;
end $$;
