-- Every message knows its place in the feed: the transaction that wrote it, and the epoch that the transaction's number is
-- of. Whoever reads up to the oldest transaction still running has missed nothing, however late others commit. What was
-- said before this has no number and comes first.
alter table message
    add column transaction xid8 not null default '0',
    add column feed_epoch integer not null default 0;

-- A program of the version before names neither column, and may still run beside this one.
alter table message alter column transaction set default pg_current_xact_id();

-- Trials are not in the feed. The condition also keeps the planner from finding single messages by this index, as it would
-- while a day is still empty.
create index message_in_feed on message (merchant_id, feed_epoch, transaction, message_id) where kind <> 'endpoint_test';

-- Transactions are numbered by a database system. One into which this database was restored begins again with small
-- numbers, so that a new epoch begins with it.
alter table installation
    add column feed_epoch integer not null default 0,
    add column database_system text;

drop trigger installation_never_changes on installation;

create trigger installation_never_changes
    before update of singleton, mode, installed_at or delete on installation
    for each row execute function refuse_to_change();

update installation set database_system = (select system_identifier::text from pg_control_system());

-- Begins a new epoch when this is another database system than the one that was noted last. Every connection of the service
-- calls it before anything else, so that nothing is written with a number that would be mistaken for one of the former
-- system. A standby is a copy of its primary and has the same identity: a failover begins no epoch.
create function note_system() returns void language plpgsql as $$
declare
    here text := (select system_identifier::text from pg_control_system());
begin
    -- Where nothing can be written, nothing has to be noted.
    if pg_is_in_recovery() or current_setting('transaction_read_only')::boolean
        or exists (select from installation where database_system = here)
    then
        return;
    end if;
    -- The first system of all is merely noted. Of several connections, the first to come writes, and the others wait for it.
    update installation
    set feed_epoch = feed_epoch + (database_system is not null)::integer, database_system = here
    where database_system is distinct from here;
end
$$;

-- Where the feed ends: what stands before this place is complete, and nothing can still come in between. This is the one
-- place with that rule. It is stable, so that it speaks of the very snapshot by which the caller reads messages.
create function feed_end(out feed_epoch integer, out transaction xid8) language sql stable
    return (select (installation.feed_epoch, pg_snapshot_xmin(pg_current_snapshot())) from installation);
