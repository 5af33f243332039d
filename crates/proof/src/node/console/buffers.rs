//! The buffers that the statements of a page touch, read from the extension `pg_stat_statements`.

use std::time::Duration;

use anyhow::ensure;
use sqlx::PgConnection;

use super::person::Person;
use crate::stage::Stage;

/// A page is opened so often before it is measured, because PostgreSQL chooses a plan for all arguments after five of its own.
const OPENED_BEFORE: usize = 25;
/// The dearest of so many visits counts.
const MEASURED: usize = 4;
/// The time in which everything that a process does by itself, with nobody there, has happened at least once.
const ALONE: Duration = Duration::from_secs(12);
/// The time within which a statement whose answer has come is counted.
const COUNTED_WITHIN: Duration = Duration::from_millis(10);

/// The most of a statement's text that is printed, in characters.
const PRINTED: usize = 160;

/// What the statements of a page touch.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) buffers: i64,
    /// The statements that touch most, with their buffers.
    pub(super) dearest: Vec<(i64, String)>,
}

/// The buffers of each page.
pub(super) async fn count(stage: &Stage, person: &mut Person, pages: &[String]) -> anyhow::Result<Vec<Touched>> {
    let mut connection = stage.connect().await?;
    sqlx::raw_sql("create extension if not exists pg_stat_statements").execute(&mut connection).await?;
    forget(&mut connection).await?;
    tokio::time::sleep(ALONE).await;
    let own: Vec<i64> = sqlx::query_scalar("select distinct queryid from pg_stat_statements").fetch_all(&mut connection).await?;
    let mut counts = Vec::with_capacity(pages.len());
    for page in pages {
        for _ in 0..OPENED_BEFORE {
            let shown = person.get(page).await?;
            ensure!(shown.status == 200, "{page} was answered with {}: {}", shown.status, shown.html);
        }
        let mut most = Touched::default();
        for _ in 0..MEASURED {
            forget(&mut connection).await?;
            person.get(page).await?;
            tokio::time::sleep(COUNTED_WITHIN).await;
            let touched = touched(&mut connection, &own).await?;
            if touched.buffers > most.buffers {
                most = touched;
            }
        }
        counts.push(most);
    }
    Ok(counts)
}

async fn forget(connection: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::raw_sql("select pg_stat_statements_reset()").execute(connection).await?;
    Ok(())
}

/// The buffers since the last reset, without those of statements that the process runs by `own` account.
async fn touched(connection: &mut PgConnection, own: &[i64]) -> anyhow::Result<Touched> {
    let statements: Vec<(i64, String)> = sqlx::query_as(
        "select shared_blks_hit + shared_blks_read as buffers, query
         from pg_stat_statements
         where queryid <> all($1) and query not like '%pg_stat_statements%'
         order by buffers desc",
    )
    .bind(own)
    .fetch_all(connection)
    .await?;
    let buffers = statements.iter().map(|(buffers, _)| buffers).sum();
    Ok(Touched { buffers, dearest: statements.into_iter().take(3).map(|(buffers, text)| (buffers, shortened(&text))).collect() })
}

/// The beginning of a statement, on one line.
fn shortened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(PRINTED).collect()
}
