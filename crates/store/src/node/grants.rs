//! The rights of the role that the program runs as. It reads and writes rows; it owns, alters and drops nothing.

use sqlx::{Connection as _, Executor as _};

use crate::Failed;
use crate::server::connect;

/// The reasons that rights cannot be granted.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    #[error("there is no role {0:?}; create it first, for example with `create role {0} login`")]
    NoSuchRole(String),
    #[error("the role {0:?} is a superuser or owns the tables, so nothing would be refused to it; name another one")]
    Unbounded(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Grants the role `backhaul.grantee` what the program needs and takes everything else away, in one transaction: a running program
/// notices nothing.
const GRANT: &str = r"
do $$
declare
    grantee constant text := current_setting('backhaul.grantee');
    owned constant text := quote_ident(current_schema());
    name text;
begin
    execute format('revoke create on schema %s from public, %I', owned, grantee);
    execute format('grant usage on schema %s to %I', owned, grantee);
    execute format('revoke all on all tables in schema %s from %I', owned, grantee);
    for name in
        select oid::regclass from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
    loop
        execute format('grant %s on %s to %I',
            case name
                when 'audit' then 'select, insert'
                when 'home_audit' then 'select, insert'
                when 'audit_head' then 'select'
                when 'home_audit_head' then 'select'
                when 'installation' then 'select, update'
                when '_sqlx_migrations' then 'select'
                else 'select, insert, update, delete'
            end,
            name, grantee);
    end loop;
    execute format('grant execute on all functions in schema %s to %I', owned, grantee);
end $$";

/// Grants `role` the rights of the program, in the database at `url`. Run as the owner of the schema.
pub async fn grant(url: &str, role: &str) -> Result<(), GrantError> {
    let mut connection = connect(url).await?;
    let unbounded = sqlx::query_scalar!(
        r#"
        select rolsuper or exists (
            select from pg_class
            where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and pg_has_role(pg_roles.oid, relowner, 'member')
        ) as "unbounded!"
        from pg_roles
        where rolname = $1
        "#,
        role,
    );
    match unbounded.fetch_optional(&mut connection).await.map_err(Failed::from)? {
        None => return Err(GrantError::NoSuchRole(role.to_owned())),
        Some(true) => return Err(GrantError::Unbounded(role.to_owned())),
        Some(false) => {}
    }
    sqlx::query!("select set_config('backhaul.grantee', $1, false)", role).fetch_one(&mut connection).await.map_err(Failed::from)?;
    connection.execute(GRANT).await.map_err(Failed::from)?;
    Ok(connection.close().await.map_err(Failed::from)?)
}
