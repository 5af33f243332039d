//! The local views of a cell: at the node of a cluster that holds it, a schema beside its own, with a view of each of its tables as it is
//! stored there.
//!
//! A statement on a distributed table is planned by Citus first, each time, and some statements that it takes on are many times as dear
//! as on one PostgreSQL. A statement on the views is planned by PostgreSQL alone. In return, whoever uses them holds the cell, so that it
//! does not leave the node meanwhile: with the function `hold_cell` of the same schema, at the beginning of every transaction. It takes
//! the lock that Citus takes for a statement, and for which the end of a move waits, and then fails if the cell is on another node.
//!
//! Where the views are missing, names lead to the distributed tables, and everything works as before, only slower.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use tokio::time::sleep;

use crate::node::migrations::locks::{AGAIN_AFTER, LOCK_TIMEOUT, TRIES, is_busy};
use crate::placement::{Holder, has_citus, holder, local_views_of};
use crate::server::{at_node, connect, connect_with};
use crate::{Failed, Store};

/// The columns of tables that no view has.
const MISSING: &str = r"
    select class.relname, attribute.attname, attribute.atttypid
    from pg_catalog.pg_dist_partition as part
    join pg_catalog.pg_class as class on class.oid = part.logicalrelid and not class.relispartition
    join pg_catalog.pg_attribute as attribute on attribute.attrelid = class.oid and attnum > 0 and not attisdropped
    where class.relnamespace = current_schema()::regnamespace
    except
    select class.relname, attribute.attname, attribute.atttypid
    from pg_catalog.pg_class as class
    join pg_catalog.pg_attribute as attribute on attribute.attrelid = class.oid and attnum > 0
    where class.relnamespace = to_regnamespace(quote_ident($views$)) and class.relkind = 'v'";

/// Makes the views anew, unless each table has one with its columns. It fails if a table is not stored on this node. Roles have the same
/// rights on a view as on its table.
const MAKE: &str = r"
do $make$
declare
    cell constant name := current_schema();
    views constant name := $views$;
    entry record;
    one_of_all constant bigint := (
        select min(shard.shardid)
        from pg_catalog.pg_dist_shard as shard
        join pg_catalog.pg_class as class on class.oid = shard.logicalrelid
        where class.relnamespace = cell::regnamespace
    );
begin
    -- One at a time: whoever comes later finds the views.
    perform pg_advisory_xact_lock(hashtextextended('backhaul.local_views', 0));
    perform set_config('citus.enable_ddl_propagation', 'off', true);
    perform set_config('citus.override_table_visibility', 'off', true);
    if exists (select from pg_catalog.pg_class where relnamespace = to_regnamespace(quote_ident(views)) and relkind in ('r', 'p')) then
        raise exception 'the schema % has tables, so it is not one of local views', views using errcode = '42P06';
    end if;
    if one_of_all is null or to_regprocedure(format('%I.hold_cell()', views)) is not null and not exists ($missing$) then
        return;
    end if;
    execute format('drop schema if exists %I cascade', views);
    execute format('create schema %I', views);
    for entry in
        select class.relname, shard_name(shard.logicalrelid, shard.shardid) as stored
        from pg_catalog.pg_dist_shard as shard
        join pg_catalog.pg_class as class on class.oid = shard.logicalrelid
        where class.relnamespace = cell::regnamespace and not class.relispartition
    loop
        execute format('create view %I.%I with (security_invoker = true) as select * from %s', views, entry.relname, entry.stored);
    end loop;
    execute format($hold$
        create function %1$I.hold_cell() returns void language plpgsql security definer set search_path to pg_catalog, pg_temp as $body$
        begin
            -- The lock of whoever writes. The end of a move waits for it.
            perform lock_shard_metadata(5, array[%2$s]);
            if not exists (
                select from pg_dist_placement as placement
                join pg_dist_local_group as here on here.groupid = placement.groupid
                where placement.shardid = %2$s
            ) then
                raise exception 'the cell is on another node' using errcode = 'BH002';
            end if;
        end $body$
    $hold$, views, one_of_all);
    execute format('grant usage on schema %I to public', views);
    execute format('grant select, insert, update, delete on all tables in schema %I to public', views);
end $make$";

/// Removes the views. A table that has a view cannot be changed in every way.
const REMOVE: &str = r"
do $remove$
begin
    perform pg_advisory_xact_lock(hashtextextended('backhaul.local_views', 0));
    perform set_config('citus.enable_ddl_propagation', 'off', true);
    if exists (select from pg_catalog.pg_class where relnamespace = to_regnamespace(quote_ident($views$)) and relkind in ('r', 'p')) then
        raise exception 'the schema % has tables, so it is not one of local views', $views$ using errcode = '42P06';
    end if;
    execute format('drop schema if exists %I cascade', $views$);
end $remove$";

/// Makes the local views of the cell at `url`, which leads to the coordinator, on the node that holds it. A cell that is not distributed
/// has none.
pub(super) async fn make(url: &str) -> Result<(), Failed> {
    match found(url).await? {
        Some(Holder { node, schema, .. }) => run(MAKE, url, &node, &schema).await,
        None => Ok(()),
    }
}

/// Makes them on the node to which the cell is moving, as soon as all of its tables are there. Returns whether they were.
pub(super) async fn make_ahead(url: &str, host: &str, port: u16) -> Result<bool, Failed> {
    let Some(Holder { schema, .. }) = found(url).await? else { return Ok(true) };
    match run(MAKE, url, &(host.to_owned(), port), &schema).await {
        Ok(()) => Ok(true),
        Err(Failed::Refused(_)) => Ok(false),
        Err(failed) => Err(failed),
    }
}

/// Removes the local views, before the tables change. Until they are made again, the node takes the statements of the cell as any other.
pub(in crate::node) async fn remove(url: &str) -> Result<(), Failed> {
    match found(url).await? {
        Some(Holder { node, schema, .. }) => run(REMOVE, url, &node, &schema).await,
        None => Ok(()),
    }
}

/// The number of tables whose view is missing or has not all of their columns; what holds the cell counts as one more. `None` for a cell
/// that has no local views, because no cluster has distributed it.
pub async fn missing(store: &Store) -> Result<Option<i64>, Failed> {
    let Some(placement) = &store.placement else { return Ok(None) };
    let found = placement.found().await?;
    if !found.is_holder {
        return Ok(None);
    }
    let mut connection = store.pool.begin_on_tables().await?;
    let count = "
        select count(distinct relname) + (to_regprocedure(format('%I.hold_cell()', $views$)) is null)::integer
        from ($missing$) as missing";
    let schema: String = {
        #[expect(clippy::disallowed_methods, reason = "it is asked at a node of a cluster")]
        sqlx::query_scalar("select current_schema()::text").fetch_one(&mut connection).await?
    };
    #[expect(clippy::disallowed_methods, reason = "the tables of Citus, which are not there where statements are checked")]
    let missing = sqlx::query_scalar(AssertSqlSafe(with_names(count, &schema))).fetch_one(&mut connection).await?;
    connection.rollback().await?;
    Ok(Some(missing))
}

/// A statement with the name of the views of `schema`.
fn with_names(statement: &str, schema: &str) -> String {
    let views = format!("'{}'", local_views_of(schema).replace('\'', "''"));
    statement.replace("$missing$", MISSING).replace("$views$", &views)
}

async fn found(url: &str) -> Result<Option<Holder>, Failed> {
    let mut coordinator = connect(url).await?;
    let found = if has_citus(&mut coordinator).await? { holder(&mut coordinator).await? } else { None };
    coordinator.close().await?;
    Ok(found)
}

/// Runs a statement on the views of `schema` at a node, as soon as it gets its locks.
async fn run(statement: &str, url: &str, node: &(String, u16), schema: &str) -> Result<(), Failed> {
    let mut connection = connect_with(&at_node(url, Some(node))?).await?;
    let statement = with_names(statement, schema);
    connection.execute(LOCK_TIMEOUT).await?;
    let mut tries = 1;
    loop {
        match connection.execute(AssertSqlSafe(statement.clone())).await {
            Err(error) if tries < TRIES && is_busy(&error) => {
                tries += 1;
                sleep(AGAIN_AFTER).await;
            }
            done => {
                done?;
                return Ok(connection.close().await?);
            }
        }
    }
}
