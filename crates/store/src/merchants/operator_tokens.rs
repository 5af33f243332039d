//! The personal tokens of operators. A token is found by its keyed hash.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::{Operator, OperatorId, Role};
use uuid::Uuid;

use super::operators::operator;
use crate::{Failed, HomeTx, Store};

/// A use moves the time of the last one at most this often, so that reading writes little.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Tokens are kept this long after they expired, so that people can see what they had.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// A token that works.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: Uuid,
    pub name: String,
    /// The most that the token may do.
    pub role: Role,
    pub operator: Operator,
}

/// A new token.
#[derive(Clone, Copy, Debug)]
pub struct Insert<'a> {
    pub id: Uuid,
    pub operator: OperatorId,
    pub name: &'a str,
    pub role: Role,
    pub made_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}

/// A token as its operator sees it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    pub name: String,
    pub role: String,
    pub made_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub used_at: Option<DateTime<Utc>>,
}

/// The hashes of a token.
#[derive(Clone, Copy, Debug)]
pub struct Hashes<'a> {
    /// The hash by every key.
    pub all: &'a [Vec<u8>],
    /// The hash by the active key, and that key.
    pub active: (&'a [u8], &'a str),
}

/// The token with one of these hashes, if it works: it is neither revoked nor expired, and its operator is enabled. Notes at most once a
/// minute that it was used. One that was hashed with another key than the active one is hashed with that from now on.
pub async fn find(store: &Store, hashes: Hashes<'_>, now: DateTime<Utc>) -> Result<Option<Live>, Failed> {
    let row = sqlx::query!(
        r#"
        with live as (
            select token.token_id, token.token_hash, token.name as token_name, token.role as token_role, token.used_at,
                operator.operator_id, operator.email, operator.name, operator.role
            from operator_token as token
            join operator on operator.operator_id = token.operator_id
            where token.token_hash = any($1) and token.revoked_at is null and token.expires_at > $2 and operator.disabled_at is null
        ), noted as (
            update operator_token as token set used_at = $2, token_hash = $4, key_id = $5
            from live
            where token.token_id = live.token_id and (live.used_at is null or live.used_at <= $3 or live.token_hash <> $4)
        )
        select token_id, token_name, token_role, operator_id, email, name, role from live
        "#,
        hashes.all,
        now,
        now - NOTED_EVERY,
        hashes.active.0,
        hashes.active.1,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| {
        let role = row.token_role.parse().map_err(|_| Failed::Internal("a stored role is unknown"))?;
        let operator = operator(row.operator_id, row.email, row.name, &row.role)?;
        Ok(Live { id: row.token_id, name: row.token_name, role, operator })
    })
    .transpose()
}

/// Stores a token.
pub async fn insert(tx: &mut HomeTx, (token_hash, key_id): (&[u8], &str), token: Insert<'_>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into operator_token (token_id, token_hash, operator_id, name, role, made_at, expires_at, key_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        "#,
        token.id,
        token_hash,
        token.operator.0,
        token.name,
        token.role.as_str(),
        token.made_at,
        token.expires_at,
        key_id,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The tokens of an operator that work, newest first. They are few: [`MOST_LIVE`](domain::merchants::operator::token::MOST_LIVE).
pub async fn list(store: &Store, of: OperatorId, now: DateTime<Utc>) -> Result<Vec<Listed>, Failed> {
    let tokens = sqlx::query_as!(
        Listed,
        r#"
        select token_id as id, name, role, made_at, expires_at, used_at
        from operator_token
        where operator_id = $1 and revoked_at is null and expires_at > $2
        order by made_at desc
        limit 100
        "#,
        of.0,
        now,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(tokens)
}

/// The number of tokens that work and were hashed with another key than `key_id`.
pub async fn count_of_other_keys(store: &Store, key_id: &str, now: DateTime<Utc>) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from operator_token
        where key_id is distinct from $1 and revoked_at is null and expires_at > $2
        "#,
        key_id,
        now,
    );
    Ok(count.fetch_one(&store.pool).await?)
}

/// Revokes one token of an operator. Returns its name; none if they have no such token that works.
pub async fn revoke(tx: &mut HomeTx, of: OperatorId, id: Uuid, now: DateTime<Utc>) -> Result<Option<String>, Failed> {
    let revoked = sqlx::query_scalar!(
        r#"
        update operator_token set revoked_at = $3
        where operator_id = $1 and token_id = $2 and revoked_at is null and expires_at > $3
        returning name
        "#,
        of.0,
        id,
        now,
    );
    Ok(revoked.fetch_optional(tx.connection()).await?)
}

/// Revokes all tokens of an operator.
pub async fn revoke_all(tx: &mut HomeTx, of: OperatorId, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("update operator_token set revoked_at = $2 where operator_id = $1 and revoked_at is null", of.0, now)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Deletes tokens that expired 30 days before `now`. Returns their number.
pub async fn forget(tx: &mut HomeTx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from operator_token where token_id in (
            select token_id from operator_token where expires_at <= $1 order by expires_at limit $2
        )
        "#,
        now - KEPT_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
