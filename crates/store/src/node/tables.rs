//! The size of what is stored, as PostgreSQL knows it since it last looked.

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

/// Every table by its name.
pub async fn list(store: &Store) -> Result<Vec<Table>, Failed> {
    let tables = sqlx::query_as!(
        Table,
        r#"
        select coalesce(whole.relname, stored.relname)::text as "name!",
            sum(greatest(stored.reltuples, 0))::bigint as "rows!", sum(stored.relpages::bigint * 8192)::bigint as "bytes!"
        from pg_catalog.pg_class as stored
        left join pg_catalog.pg_inherits as inherits on inherits.inhrelid = stored.oid
        left join pg_catalog.pg_class as whole on whole.oid = inherits.inhparent
        where stored.relnamespace = current_schema()::regnamespace and stored.relkind = 'r'
        group by 1
        order by 1
        "#,
    );
    Ok(tables.fetch_all(&store.pool).await?)
}
