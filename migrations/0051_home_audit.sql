-- The audit trail of what belongs to no merchant: operators, their sign-ins, and what they asked each other for.
create table home_audit (
    audit_id uuid not null primary key,
    actor text not null,
    action text not null,
    detail text not null,
    done_at timestamptz not null
);
create index home_audit_by_age on home_audit (done_at);

-- Deletes those of the entries that are older than 7 years by the shared clock. Nobody else deletes from the audit trail.
create function forget_home_audit(entries uuid[]) returns void language plpgsql as $$
declare
    before constant timestamptz := shared_now() - interval '7 years';
begin
    delete from home_audit where audit_id = any(entries) and done_at <= before;
end
$$;

do $$
begin
    execute format('alter function forget_home_audit(uuid[]) security definer set search_path to %I, pg_temp', current_schema());
    revoke execute on function forget_home_audit(uuid[]) from public;
end $$;
