//! A cell as a schema: created before its first migration, and distributed after it where the server is the coordinator of a cluster.

pub(super) mod local;
mod moving;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

pub use self::local::missing as missing_views;
pub use self::moving::{NotMoved, Refusal, move_to_node};
use super::installation::ClockAhead;
use super::tables::begin_seeing_shards;
use crate::server::connect;
use crate::{Failed, Store};

/// Distributes the schema as a whole, once. The unlogged tables are used in the first cell alone; they could not move to another node,
/// so they become ordinary tables here. Triggers touch their own cell only (docs/adr/0062-a-cell-is-distributed-once-it-is-migrated.md).
/// A server without Citus has nothing to distribute.
const DISTRIBUTE: &str = r"
do $$
begin
    if to_regclass('pg_catalog.pg_dist_schema') is null then
        return;
    end if;
    if exists (select from pg_catalog.pg_dist_schema where schemaid = current_schema()::regnamespace) then
        return;
    end if;
    alter table node_pulse set logged;
    alter table rate_count set logged;
    perform set_config('citus.enable_unsafe_triggers', 'on', true);
    perform citus_schema_distribute(current_schema()::regnamespace);
end $$";

/// Creates the schema in the database at `url`, unless it is there. Its name consists of small letters, digits and `_`.
pub async fn create_schema(url: &str, schema: &str) -> Result<(), Failed> {
    let mut connection = connect(url).await?;
    connection.execute(AssertSqlSafe(format!(r#"create schema if not exists "{schema}""#))).await?;
    Ok(connection.close().await?)
}

/// Distributes the schema of `url`, which leads to the coordinator, unless it is distributed already, and makes its local views.
pub async fn distribute(url: &str) -> Result<(), Failed> {
    let mut connection = connect(url).await?;
    connection.execute(DISTRIBUTE).await?;
    connection.close().await?;
    local::make(url).await
}

/// The bytes of the cell's tables and indexes.
pub async fn size(store: &Store) -> Result<i64, Failed> {
    let size = sqlx::query_scalar!(
        r#"
        select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as "bytes!"
        from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'm')
        "#
    );
    let mut connection = begin_seeing_shards(store).await?;
    let size = size.fetch_one(&mut connection).await?;
    connection.rollback().await?;
    Ok(size)
}

/// Moves the clock of a sandbox's cell as far ahead as that of the first cell. Functions of the schema go by it.
pub async fn follow_clock(store: &Store, home: &ClockAhead) -> Result<(), Failed> {
    sqlx::query!(
        "update installation set clock_ahead_us = $1, clock_moved_by = $2, clock_moved_at = $3 where clock_ahead_us < $1",
        home.ahead.num_microseconds(),
        home.moved_by,
        home.moved_at,
    )
    .execute(&store.aside)
    .await?;
    Ok(())
}
