//! The sessions behind the connections, which a pooler in between may share among them.

use sqlx::PgExecutor;

use crate::connection::Connection;
use crate::{Failed, Store};

/// The findings about the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// Every connection has a session of its own, and that has the settings of its pool.
    pub is_kept: bool,
    /// The warning that a commit is not confirmed is recognised if it comes, by its English text.
    pub recognises_warnings: bool,
}

/// The value of the setting that marks a session.
const MARK: &str = "marked";

/// Marks the session of one connection, and looks at those of others.
pub async fn examine(store: &Store) -> Result<Sessions, Failed> {
    let mut marked = store.pool.acquire().await?;
    mark(&mut marked, MARK).await?;
    let other = sqlx::query!(
        r#"
        select
            current_setting('backhaul.session', true) is not distinct from $1 as "is_marked!",
            current_setting('synchronous_standby_names') = '' or current_setting('lc_messages') ~* '^(c|posix|en)([_.]|$)' as "recognises!"
        "#,
        MARK,
    )
    .fetch_one(&store.aside)
    .await?;
    let aside = settings(&store.aside).await?;
    let engine = settings(&store.engine).await?;
    mark(&mut marked, "").await?;
    let limit = i64::try_from(store.limits.statement.as_millis()).unwrap_or(i64::MAX);
    let is_kept = !other.is_marked && aside == (limit, true) && engine == (limit, false);
    Ok(Sessions { is_kept, recognises_warnings: other.recognises })
}

async fn mark(connection: &mut Connection, mark: &str) -> Result<(), Failed> {
    sqlx::query!(r#"select set_config('backhaul.session', $1, false) as "mark?""#, mark).fetch_one(connection).await?;
    Ok(())
}

/// The time limit of a statement in milliseconds, and whether tables may be read in sequence, which the connection aside may and the engine's may not.
async fn settings(connection: impl PgExecutor<'_>) -> Result<(i64, bool), Failed> {
    let row = sqlx::query!(
        r#"
        select
            (select setting::bigint from pg_settings where name = 'statement_timeout') as "limit!",
            current_setting('enable_seqscan')::boolean as "seqscan!"
        "#
    )
    .fetch_one(connection)
    .await?;
    Ok((row.limit, row.seqscan))
}
