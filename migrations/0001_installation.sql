-- What an installation is: production or a sandbox. Written once, by the first migration, and never changed.
create table installation (
    singleton boolean not null primary key constraint there_is_one_installation check (singleton),
    mode text not null constraint mode_is_known check (mode in ('production', 'sandbox')),
    installed_at timestamptz not null
);

create function refuse_to_change() returns trigger language plpgsql as $$
begin
    raise exception '% never changes', tg_table_name;
end
$$;

create trigger installation_never_changes
    before update or delete on installation
    for each row execute function refuse_to_change();
