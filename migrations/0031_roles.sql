-- The program can run as a role that owns nothing (docs/postgresql.md): it reads and writes rows, and what takes an owner is done on
-- its behalf by these functions, within their own limits.

-- Deletes those of a merchant's entries that are older than 7 years by the shared clock. Nobody else deletes from the audit trail.
create function forget_audit(of_merchant uuid, entries uuid[]) returns void language plpgsql as $$
declare
    before constant timestamptz := shared_now() - interval '7 years';
begin
    delete from audit where merchant_id = of_merchant and audit_id = any(entries) and done_at <= before;
end
$$;

do $$
declare
    owned text;
begin
    foreach owned in array array[
        'make_partitions(timestamptz, integer)', 'drop_partitions(timestamptz)', 'forget_audit(uuid, uuid[])'
    ] loop
        execute format('alter function %s security definer set search_path to %I, pg_temp', owned, current_schema());
        execute format('revoke execute on function %s from public', owned);
    end loop;
end $$;
