//! Moving a cell to another node of its cluster.
//!
//! Citus copies the tables and passes on what is written meanwhile. In the end it holds up writes until the copy has caught up, the foreign
//! keys are there and all nodes know; then the new node takes over, and the old tables are deleted in the background. As long as some of them are left, the cell cannot move again.
//! The local views are made on the new node as soon as the tables are there, so that nobody has to do without them afterwards.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::time::Duration;

use sqlx::postgres::{PgDatabaseError, PgListener, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::local;
use crate::Failed;
use crate::placement::holder;
use crate::server::{CONNECT, at_node, connect, connect_options, connect_with};

/// The number of tries, and the pause between two. What makes one fail is often over soon, such as a node that is restarted.
const TRIES: u32 = 10;
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// The time within which what earlier moves have left behind must be gone, and the pause between two looks.
const CLEANED_WITHIN: Duration = Duration::from_mins(3);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// The pause before local views are tried again, which fails until all tables are there.
const MAKE_AGAIN_AFTER: Duration = Duration::from_millis(300);
/// The interval in which the copy is looked at, and the number of intervals that it may be behind when the move is woken.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const BEHIND: usize = 2;

/// The classes of errors that another try may not meet: a broken connection, a collision, a node that is shutting down or starting, and
/// Citus' own errors, which have no code of their own.
const PASSING: [&str; 7] = ["08", "40", "53", "55P03", "57", "58", "XX000"];

/// The tables of the cell that are still to be deleted on a node.
const LEFT_BEHIND: &str = "
    select count(*), min(object_name)
    from pg_catalog.pg_dist_cleanup
    where starts_with(object_name, quote_ident(current_schema()) || '.')";

/// The channel on which a move is woken.
const CHANNEL: &str = "backhaul_cell_move";
const NOTIFY: &str = "notify backhaul_cell_move";

/// How far a node has written.
const WRITTEN: &str = "select pg_current_wal_lsn()::text";
/// How far the copy on this node is known to be. `null` while nothing is passed on.
const CAUGHT_UP: &str = "
    select min(latest_end_lsn)::text
    from pg_catalog.pg_stat_subscription
    where starts_with(subname, 'citus_shard_move_subscription')";

/// Ends transactions that a killed node has left prepared, on every node those that it began.
const RECOVER: &str = "select run_command_on_all_nodes('select recover_prepared_transactions()')";
const CLEAN_UP: &str = "call citus_cleanup_orphaned_resources()";

/// The classes of errors whose texts may hold a row's data. An argument that is not good is none of them.
const OF_DATA: [&str; 2] = ["22", "23"];
const BAD_ARGUMENT: &str = "22023";

/// The reason why a cell did not move.
#[derive(Debug, thiserror::Error)]
pub enum NotMoved {
    #[error(transparent)]
    Failed(#[from] Failed),
    /// The cluster refused.
    #[error("the cluster refused it: {0}")]
    Refused(Refusal),
    /// Tables of an earlier move cannot be deleted.
    #[error(
        "{left} tables that an earlier move left behind could not be deleted, such as {example}; look for transactions that are still \
         open on its node (`pg_stat_activity`, `pg_prepared_xacts`), end them, and repeat the command"
    )]
    LeftBehind { left: i64, example: String },
}

/// What the cluster says about a move that it refuses: in its words, because they name tables, nodes and settings. They hold no row's
/// data; where they might, the code alone is told.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    code: String,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.code)?;
        [&self.detail, &self.hint].into_iter().flatten().try_for_each(|more| write!(f, "; {more}"))
    }
}

impl NotMoved {
    /// True if another try may succeed without anybody doing anything.
    fn passes(&self) -> bool {
        match self {
            Self::Failed(failed) => failed.is_outage() && !failed.is_permanent(),
            Self::Refused(refusal) => PASSING.iter().any(|class| refusal.code.starts_with(class)),
            Self::LeftBehind { .. } => false,
        }
    }
}

fn may_be_told(code: &str) -> bool {
    code == BAD_ARGUMENT || !OF_DATA.iter().any(|class| code.starts_with(class))
}

impl From<sqlx::Error> for NotMoved {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) {
            Some(refused) if may_be_told(refused.code()) => Self::Refused(Refusal {
                code: refused.code().to_owned(),
                message: refused.message().to_owned(),
                detail: refused.detail().map(str::to_owned),
                hint: refused.hint().map(str::to_owned),
            }),
            _ => Self::Failed(error.into()),
        }
    }
}

/// Moves the schema of `url`, which leads to the coordinator, to another node of the cluster, while it is in use. A move that fails is
/// undone by the cluster, and tried again if that may help; `told` is given the reason.
pub async fn move_to_node(url: &str, host: &str, port: u16, told: impl Fn(&str)) -> Result<(), NotMoved> {
    let mut tries = 1;
    loop {
        match try_to_move(url, host, port).await {
            Err(failed) if tries < TRIES && failed.passes() => told(&format!("{failed}; trying again")),
            ended => return ended,
        }
        tries += 1;
        sleep(AGAIN_AFTER).await;
    }
}

async fn try_to_move(url: &str, host: &str, port: u16) -> Result<(), NotMoved> {
    let mut connection = connect(url).await?;
    if holder(&mut connection).await?.is_some_and(|holder| holder.node == (host.to_owned(), port)) {
        return Ok(local::make(url).await?);
    }
    clean_up(&mut connection).await?;
    connection.close().await?;
    // An ordinary connection takes no notifications.
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(CONNECT).connect_with(connect_options(url)?).await?;
    let mut connection = PgListener::connect_with(&pool).await?;
    connection.listen(CHANNEL).await?;
    let move_cell = format!("select citus_schema_move(current_schema()::regnamespace, '{}', {port})", host.replace('\'', "''"));
    tokio::select! {
        moved = connection.execute(AssertSqlSafe(move_cell)) => moved.map(drop)?,
        never = wake(url, host, port) => match never {},
        never = make_views(url, host, port) => match never {},
    }
    Ok(local::make(url).await?)
}

/// Makes the local views on the node to which the cell is moving. Without them, its statements are only slower there.
async fn make_views(url: &str, host: &str, port: u16) -> Infallible {
    while !matches!(local::make_ahead(url, host, port).await, Ok(true)) {
        sleep(MAKE_AGAIN_AFTER).await;
    }
    pending().await
}

/// Wakes the move again and again. Citus looks once a second whether the copy has caught up, at last while writes wait for it. A
/// notification for the session that moves wakes it earlier. Without it, the move works too, but writes wait for longer.
async fn wake(url: &str, host: &str, port: u16) -> Infallible {
    // What fails here does not concern the move.
    let _ = try_to_wake(url, host, port).await;
    pending().await
}

/// Wakes the move while the copy is hardly behind. Before writes are held up, Citus waits until the copy is where the cell was when it
/// began to wait, however much has been written since, and that is copied while writes wait. So a wake that comes too early makes them
/// wait for longer.
async fn try_to_wake(url: &str, host: &str, port: u16) -> Result<Infallible, Failed> {
    let mut coordinator = connect(url).await?;
    let Some(holder) = holder(&mut coordinator).await? else { return pending().await };
    let mut source = connect_with(&at_node(url, Some(&holder.node))?).await?;
    let mut target = connect_with(&at_node(url, Some(&(host.to_owned(), port)))?).await?;
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut written = VecDeque::with_capacity(BEHIND + 1);
    loop {
        ticks.tick().await;
        let caught_up = place(&mut target, CAUGHT_UP).await?;
        written.push_back(place(&mut source, WRITTEN).await?);
        if written.len() > BEHIND && caught_up >= written.pop_front().flatten() {
            coordinator.execute(NOTIFY).await?;
        }
    }
}

/// A place in what a node writes.
async fn place(node: &mut PgConnection, question: &'static str) -> Result<Option<u64>, Failed> {
    #[expect(clippy::disallowed_methods, reason = "a statement for nodes of a cluster")]
    let place: Option<String> = sqlx::query_scalar(question).fetch_one(node).await?;
    Ok(place.as_deref().and_then(number_of))
}

/// The number that PostgreSQL writes as two halves: `16/B374D848`.
fn number_of(place: &str) -> Option<u64> {
    let (high, low) = place.split_once('/')?;
    Some(u64::from_str_radix(high, 16).ok()? << 32 | u64::from_str_radix(low, 16).ok()?)
}

/// The number of tables that are left behind, and the name of one. `None` if there are none.
async fn left_behind(connection: &mut PgConnection) -> Result<Option<(i64, String)>, NotMoved> {
    #[expect(clippy::disallowed_methods, reason = "a table of Citus, which is not there where statements are checked")]
    let row = sqlx::query(LEFT_BEHIND).fetch_one(connection).await?;
    let example: Option<String> = row.try_get(1)?;
    Ok(example.map(|example| Ok::<_, sqlx::Error>((row.try_get(0)?, example))).transpose()?)
}

/// Deletes what earlier moves of the cell have left behind, which Citus does in the background, too. It cannot as long as a transaction
/// uses it, perhaps one that a killed node has left prepared.
async fn clean_up(connection: &mut PgConnection) -> Result<(), NotMoved> {
    let until = Instant::now() + CLEANED_WITHIN;
    while let Some((left, example)) = left_behind(connection).await? {
        if Instant::now() >= until {
            return Err(NotMoved::LeftBehind { left, example });
        }
        for cure in [RECOVER, CLEAN_UP] {
            match connection.execute(cure).await.map_err(NotMoved::from) {
                // Without the right to do it, wait until Citus does.
                Err(NotMoved::Refused(_)) | Ok(_) => {}
                Err(failed) => return Err(failed),
            }
        }
        sleep(LOOK_AGAIN_AFTER).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str) -> NotMoved {
        let refusal = Refusal { code: code.to_owned(), message: "it is busy".to_owned(), detail: None, hint: None };
        NotMoved::Refused(refusal)
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_cluster() {
        let refusal = Refusal {
            code: "XX000".to_owned(),
            message: "could not acquire the lock required to move b.audit".to_owned(),
            detail: Some("It means that a concurrent shard move is happening.".to_owned()),
            hint: Some("Make sure that the concurrent operation has finished and re-run the command".to_owned()),
        };
        assert_eq!(
            NotMoved::Refused(refusal).to_string(),
            "the cluster refused it: could not acquire the lock required to move b.audit (SQLSTATE XX000); It means that a concurrent \
             shard move is happening.; Make sure that the concurrent operation has finished and re-run the command"
        );
    }

    #[test]
    fn places_are_compared_as_numbers() {
        assert_eq!(number_of("16/B374D848"), Some(0x16_B374_D848));
        assert!(number_of("1/0") > number_of("0/FFFFFFFF"));
        assert_eq!(number_of(""), None);
    }

    #[test]
    fn the_words_of_an_error_about_rows_are_not_told() {
        assert!(may_be_told("XX000") && may_be_told("22023"));
        assert!(!may_be_told("22P02") && !may_be_told("23505"));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for code in ["XX000", "08006", "40P01", "55P03", "57P03", "53300"] {
            assert!(refused(code).passes(), "{code}");
        }
        // A node that does not exist, a right that is missing, a table that cannot move.
        for code in ["22023", "42501", "0A000", "55000"] {
            assert!(!refused(code).passes(), "{code}");
        }
        assert!(NotMoved::Failed(Failed::Unreachable("it did not answer in time".to_owned())).passes());
    }
}
