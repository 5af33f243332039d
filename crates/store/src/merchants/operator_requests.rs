//! What one administrator asks for and another one decides.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::merchants::operator::OperatorId;
use domain::merchants::operator::request::{Decision, LAPSES_AFTER, Standing, Wanted};
use uuid::Uuid;

use crate::{Failed, HomeTx, Store};

/// Requests are kept this long.
const KEPT_FOR: TimeDelta = TimeDelta::days(400);

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    pub id: Uuid,
    pub wanted: Wanted,
    pub merchant: Option<MerchantId>,
    /// What it covers, as the flow that carries it out reads it.
    pub covers: Vec<String>,
    /// The number of things that it covers.
    pub things: i64,
    pub why: String,
    pub standing: Standing,
    pub decided_by: Option<OperatorId>,
    pub decided_at: Option<DateTime<Utc>>,
    /// The reason of the person who decided.
    pub reason: Option<String>,
    /// What came of it, if it was approved.
    pub outcome: Option<String>,
    pub done_at: Option<DateTime<Utc>>,
}

/// A request with the names of its people, and of its merchant.
#[derive(Clone, Debug)]
pub struct Listed {
    pub request: Request,
    pub asked_by: String,
    pub asked_by_email: String,
    pub decided_by: Option<String>,
    /// The handle and the name.
    pub merchant: Option<(String, String)>,
}

/// Which requests are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that wait for a decision.
    Open,
    Decided,
    Lapsed,
}

/// A stored row.
struct Row {
    request_id: Uuid,
    wanted: String,
    merchant_id: Option<Uuid>,
    covers: Vec<String>,
    things: i64,
    why: String,
    asked_by: Uuid,
    asked_at: DateTime<Utc>,
    decision: Option<String>,
    decided_by: Option<Uuid>,
    decided_at: Option<DateTime<Utc>>,
    reason: Option<String>,
    outcome: Option<String>,
    done_at: Option<DateTime<Utc>>,
}

impl Row {
    fn read(self) -> Result<Request, Failed> {
        let wanted = self.wanted.parse().map_err(|_| Failed::Internal("a stored request wants something unknown"))?;
        let decision: Option<Result<Decision, _>> = self.decision.map(|decision| decision.parse());
        let decision = decision.transpose().map_err(|_| Failed::Internal("a stored request has an unknown decision"))?;
        Ok(Request {
            id: self.request_id,
            wanted,
            merchant: self.merchant_id.map(MerchantId),
            covers: self.covers,
            things: self.things,
            why: self.why,
            standing: Standing { asked_by: OperatorId(self.asked_by), asked_at: self.asked_at, decision },
            decided_by: self.decided_by.map(OperatorId),
            decided_at: self.decided_at,
            reason: self.reason,
            outcome: self.outcome,
            done_at: self.done_at,
        })
    }
}

/// Adds a request.
pub async fn insert(tx: &mut HomeTx, request: &Request) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into operator_request (request_id, wanted, merchant_id, covers, things, why, asked_by, asked_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        "#,
        request.id,
        request.wanted.as_str(),
        request.merchant.map(|merchant| merchant.0),
        &request.covers,
        request.things,
        request.why,
        request.standing.asked_by.0,
        request.standing.asked_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Locks a request.
pub async fn lock(tx: &mut HomeTx, id: Uuid) -> Result<Option<Request>, Failed> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            request_id, wanted, merchant_id, covers, things, why, asked_by, asked_at, decision, decided_by, decided_at, reason, outcome,
            done_at
        from operator_request
        where request_id = $1
        for update
        "#,
        id,
    );
    row.fetch_optional(tx.connection()).await?.map(Row::read).transpose()
}

/// Saves a decision.
pub async fn decide(
    tx: &mut HomeTx,
    id: Uuid,
    decision: Decision,
    by: OperatorId,
    reason: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    sqlx::query!(
        "update operator_request set decision = $2, decided_by = $3, decided_at = $4, reason = $5 where request_id = $1",
        id,
        decision.as_str(),
        by.0,
        now,
        reason,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Saves what came of an approved request; it is done if it has a time.
pub async fn save_outcome(tx: &mut HomeTx, id: Uuid, outcome: &str, done_at: Option<DateTime<Utc>>) -> Result<(), Failed> {
    sqlx::query!("update operator_request set outcome = $2, done_at = $3 where request_id = $1", id, outcome, done_at)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// The requests of this kind, the newest first; or the one with this id.
pub async fn list(store: &Store, which: Option<Which>, id: Option<Uuid>, most: i64, now: DateTime<Utc>) -> Result<Vec<Listed>, Failed> {
    let which = which.map(|which| match which {
        Which::Open => "open",
        Which::Decided => "decided",
        Which::Lapsed => "lapsed",
    });
    let rows = sqlx::query!(
        r#"
        select
            request.request_id, request.wanted, request.merchant_id, request.covers, request.things, request.why, request.asked_by,
            request.asked_at, request.decision, request.decided_by, request.decided_at, request.reason, request.outcome, request.done_at,
            asker.name as asker, asker.email as asker_email, decider.name as "decider?", merchant.handle as "handle?",
            merchant.name as "merchant?"
        from operator_request as request
        join operator as asker on asker.operator_id = request.asked_by
        left join operator as decider on decider.operator_id = request.decided_by
        left join merchant on merchant.merchant_id = request.merchant_id
        where ($1::uuid is null or request.request_id = $1)
        and case $2::text
            when 'open' then request.decision is null and request.asked_at > $3
            when 'decided' then request.decision is not null
            when 'lapsed' then request.decision is null and request.asked_at <= $3
            else true
        end
        order by request.asked_at desc
        limit $4
        "#,
        id,
        which,
        now - LAPSES_AFTER,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let stored = Row {
            request_id: row.request_id,
            wanted: row.wanted,
            merchant_id: row.merchant_id,
            covers: row.covers,
            things: row.things,
            why: row.why,
            asked_by: row.asked_by,
            asked_at: row.asked_at,
            decision: row.decision,
            decided_by: row.decided_by,
            decided_at: row.decided_at,
            reason: row.reason,
            outcome: row.outcome,
            done_at: row.done_at,
        };
        Ok(Listed {
            request: stored.read()?,
            asked_by: row.asker,
            asked_by_email: row.asker_email,
            decided_by: row.decider,
            merchant: row.handle.zip(row.merchant),
        })
    });
    listed.collect()
}

/// The number of requests of others that wait for a decision, for the menu.
pub async fn count_open(store: &Store, besides: OperatorId, now: DateTime<Utc>) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!" from operator_request where decision is null and asked_at > $1 and asked_by <> $2
        "#,
        now - LAPSES_AFTER,
        besides.0,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// Deletes requests after 400 days. Returns their number.
pub async fn forget(tx: &mut HomeTx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from operator_request where request_id in (
            select request_id from operator_request where asked_at <= $1 order by asked_at limit $2
        )
        "#,
        now - KEPT_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
