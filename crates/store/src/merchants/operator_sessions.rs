//! The sessions of operators in the console. A session is found by the hash of the token in its cookie.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::{Operator, OperatorId};
use uuid::Uuid;

use super::operators::operator;
use crate::{Failed, HomeTx, Store};

/// A request moves the time of the last one at most this often, so that reading pages writes little.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Sessions are kept this long after their end, so that people can see where they were signed in.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// The limits of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time without a request after which it ends.
    pub idle: TimeDelta,
    /// The time after which it ends in any case.
    pub longest: TimeDelta,
}

/// A live session.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: Uuid,
    pub operator: Operator,
    pub started_at: DateTime<Utc>,
}

/// A new session.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    pub id: Uuid,
    pub operator: OperatorId,
    pub address: &'a str,
    /// The browser, in a few words.
    pub agent: &'a str,
    /// How the person signed in.
    pub means: &'a str,
    pub started_at: DateTime<Utc>,
}

/// A session as its operator sees it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    pub started_at: DateTime<Utc>,
    pub seen_at: DateTime<Utc>,
    pub address: String,
    pub agent: String,
    pub means: String,
}

/// The live session with this hash. Notes at most once a minute that its operator was there.
pub async fn find(store: &Store, token_hash: &[u8], limits: Limits, now: DateTime<Utc>) -> Result<Option<Session>, Failed> {
    let row = sqlx::query!(
        r#"
        with live as (
            select session.session_id, session.started_at, session.seen_at, operator.operator_id, operator.email, operator.name, operator.role
            from operator_session as session
            join operator on operator.operator_id = session.operator_id
            where session.token_hash = $1 and session.ended_at is null and session.seen_at > $2 and session.started_at > $3
            and operator.disabled_at is null
        ), noted as (
            update operator_session as session set seen_at = $4
            from live
            where session.session_id = live.session_id and live.seen_at <= $5
        )
        select session_id, started_at, operator_id, email, name, role from live
        "#,
        token_hash,
        now - limits.idle,
        now - limits.longest,
        now,
        now - NOTED_EVERY,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| {
        let operator = operator(row.operator_id, row.email, row.name, &row.role)?;
        Ok(Session { id: row.session_id, operator, started_at: row.started_at })
    })
    .transpose()
}

/// Starts a session.
pub async fn insert(tx: &mut HomeTx, token_hash: &[u8], session: NewSession<'_>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into operator_session (session_id, token_hash, operator_id, started_at, seen_at, address, agent, means)
        values ($1, $2, $3, $4, $4, $5, $6, $7)
        "#,
        session.id,
        token_hash,
        session.operator.0,
        session.started_at,
        session.address,
        session.agent,
        session.means,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The live sessions of an operator, newest first.
pub async fn list(store: &Store, of: OperatorId, limits: Limits, now: DateTime<Utc>) -> Result<Vec<Listed>, Failed> {
    let sessions = sqlx::query_as!(
        Listed,
        r#"
        select session_id as id, started_at, seen_at, address, agent, means
        from operator_session
        where operator_id = $1 and ended_at is null and seen_at > $2 and started_at > $3
        order by started_at desc
        limit 100
        "#,
        of.0,
        now - limits.idle,
        now - limits.longest,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(sessions)
}

/// Ends one session of an operator. False if they have no such session.
pub async fn end(tx: &mut HomeTx, of: OperatorId, id: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let ended = sqlx::query!(
        "update operator_session set ended_at = $3 where operator_id = $1 and session_id = $2 and ended_at is null",
        of.0,
        id,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(ended.rows_affected() == 1)
}

/// Ends all sessions of an operator, or all but one. Returns their number.
pub async fn end_all(tx: &mut HomeTx, of: OperatorId, but: Option<Uuid>, now: DateTime<Utc>) -> Result<u64, Failed> {
    let ended = sqlx::query!(
        "update operator_session set ended_at = $3 where operator_id = $1 and session_id is distinct from $2 and ended_at is null",
        of.0,
        but,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(ended.rows_affected())
}

/// Deletes sessions that have been over for 30 days at `now`. Returns their number.
pub async fn forget(tx: &mut HomeTx, longest: TimeDelta, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from operator_session where session_id in (
            select session_id from operator_session where started_at <= $1 order by started_at limit $2
        )
        "#,
        now - longest - KEPT_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
