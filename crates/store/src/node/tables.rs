//! The size of what is stored, as PostgreSQL knows it since it last looked.

use sqlx::Executor as _;

use crate::connection::Connection;
use crate::{Failed, Store};

/// A table, with all its partitions.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// About so many rows; 0 if PostgreSQL has not looked yet.
    pub rows: i64,
    /// About so many bytes, without indexes and long values.
    pub bytes: i64,
}

/// A transaction that sees the shards of a cell, which have its rows. A cluster hides them, and other servers ignore the setting.
pub(super) async fn begin_seeing_shards(store: &Store) -> Result<Connection, Failed> {
    let mut connection = store.pool.begin_on_tables().await?;
    connection.execute("set local citus.override_table_visibility = off").await?;
    Ok(connection)
}

/// Every table by its name.
pub async fn list(store: &Store) -> Result<Vec<Table>, Failed> {
    let tables = sqlx::query_as!(
        Table,
        r#"
        -- The name of a shard ends in its number.
        select regexp_replace(coalesce(whole.relname, stored.relname), '_[0-9]+$', '') as "name!",
            sum(greatest(stored.reltuples, 0))::bigint as "rows!", sum(stored.relpages::bigint * 8192)::bigint as "bytes!"
        from pg_catalog.pg_class as stored
        left join pg_catalog.pg_inherits as inherits on inherits.inhrelid = stored.oid
        left join pg_catalog.pg_class as whole on whole.oid = inherits.inhparent
        where stored.relnamespace = current_schema()::regnamespace and stored.relkind = 'r'
        group by 1
        order by 1
        "#,
    );
    let mut connection = begin_seeing_shards(store).await?;
    let tables = tables.fetch_all(&mut connection).await?;
    connection.rollback().await?;
    Ok(tables)
}
