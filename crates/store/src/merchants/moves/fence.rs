//! The fence: a merchant's row in `moved_merchant` keeps everybody from writing its data in this cell.
//!
//! Every transaction that writes a merchant's data reads the table before it writes, and so holds a lock on it until it ends. A
//! transaction that did not see the row had read the table before the row was committed. So after the commit, whoever holds that lock
//! is waited for, and from then on nothing can be written.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use futures::future::try_join_all;

use crate::connection::Pool;
use crate::{Failed, Store, Tx};

/// A merchant that does not live here, or is about to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The cell in which the merchant lives, or to which it is about to move.
    pub cell: String,
    /// True if nobody may write here.
    pub closed: bool,
}

/// The cell to which a merchant has moved, or is about to move. `None` if it lives here, or was never here.
pub async fn find(store: &Store, merchant: MerchantId) -> Result<Option<Forward>, Failed> {
    let found = sqlx::query_as!(Forward, "select cell, closed from moved_merchant where merchant_id = $1", merchant.0);
    Ok(found.fetch_optional(&store.pool).await?)
}

/// Lets the deliveries of a merchant rest that is about to move to `cell`. Calls that have begun are still settled.
pub async fn rest(store: &Store, merchant: MerchantId, cell: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into moved_merchant (merchant_id, cell, closed, marked_at) values ($1, $2, false, $3)
        on conflict (merchant_id) do nothing
        "#,
        merchant.0,
        cell,
        now,
    )
    .execute(&store.pool)
    .await?;
    Ok(())
}

/// Keeps everybody from writing the data of a merchant that lives in `cell`, or is about to move there. Transactions that began
/// earlier may still write ([`Watch::earlier`]).
pub async fn close(store: &Store, merchant: MerchantId, cell: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into moved_merchant (merchant_id, cell, closed, marked_at) values ($1, $2, true, $3)
        on conflict (merchant_id) do update set cell = excluded.cell, closed = true, marked_at = excluded.marked_at
        "#,
        merchant.0,
        cell,
        now,
    )
    .execute(&store.pool)
    .await?;
    Ok(())
}

/// Lets the merchant live here. Waits for whoever holds the row, see [`begin_away`].
pub async fn open(store: &Store, merchant: MerchantId) -> Result<(), Failed> {
    sqlx::query!("delete from moved_merchant where merchant_id = $1", merchant.0).execute(&store.pool).await?;
    Ok(())
}

/// [`open`] in a transaction of [`begin_away`], which then is the first one of the merchant here.
pub async fn let_in(tx: &mut Tx) -> Result<(), Failed> {
    sqlx::query!("delete from moved_merchant where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    Ok(())
}

/// A transaction that has read the fence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Earlier {
    /// The server that runs it, among those that are watched.
    server: usize,
    /// The process of the server that runs it.
    pid: i32,
    /// Its name, which no later transaction of the process has.
    transaction: String,
}

/// The servers on which transactions may have read the fence. On a cluster, each node passes on what is of another one: such a
/// transaction holds its lock on the node through which it came, on the one that held the cell then, or on both.
pub struct Watch(Vec<Pool>);

/// Begins to watch the fence of a cell.
pub async fn watch(store: &Store) -> Result<Watch, Failed> {
    Ok(Watch(store.of_each_node().await?))
}

impl Watch {
    /// The transactions that have read the fence and not ended. A backup reads it too, and never writes.
    pub async fn earlier(&self) -> Result<Vec<Earlier>, Failed> {
        let on_each = self.0.iter().enumerate().map(|(server, connections)| on(server, connections));
        Ok(try_join_all(on_each).await?.into_iter().flatten().collect())
    }

    /// Ends the sessions of these transactions, which then write nothing.
    pub async fn terminate(&self, transactions: &[Earlier]) -> Result<(), Failed> {
        for (server, connections) in self.0.iter().enumerate() {
            let pids: Vec<i32> = transactions.iter().filter(|earlier| earlier.server == server).map(|earlier| earlier.pid).collect();
            sqlx::query!(r#"select pg_terminate_backend(pid) as "ended!" from unnest($1::integer[]) as pid"#, &pids)
                .fetch_all(connections)
                .await?;
        }
        Ok(())
    }
}

async fn on(server: usize, connections: &Pool) -> Result<Vec<Earlier>, Failed> {
    // On the node of a cluster that holds the cell, the table's name ends in the number of its shard.
    let running = sqlx::query!(
        r#"
        select distinct held.pid as "pid!", held.virtualtransaction as "transaction!"
        from pg_locks as held
        left join pg_stat_activity as activity on activity.pid = held.pid
        where held.locktype = 'relation' and held.mode = 'AccessShareLock' and held.granted
            and held.database = (select oid from pg_database where datname = current_database())
            and held.relation::regclass::text ~ '^moved_merchant(_[0-9]+)?$'
            and held.pid <> pg_backend_pid()
            and activity.application_name is distinct from 'pg_dump'
        "#
    );
    let running = running.fetch_all(connections).await?.into_iter();
    Ok(running.map(|row| Earlier { server, pid: row.pid, transaction: row.transaction }).collect())
}

/// Opens a transaction on the data of a merchant in a cell in which it does not live: to copy what arrives, or to delete what it has left
/// behind. Until the transaction ends, the merchant cannot be let in. Fails if it lives here.
pub async fn begin_away(store: &Store, merchant: MerchantId) -> Result<Tx, Failed> {
    let mut tx = Tx::new(store.pool.begin().await?, merchant);
    let held = sqlx::query_scalar!("select closed from moved_merchant where merchant_id = $1 and closed for share", merchant.0)
        .fetch_optional(tx.connection())
        .await?;
    if held.is_none() {
        return Err(Failed::Internal("a merchant that lives in this cell is to be overwritten by a move"));
    }
    Ok(tx)
}
