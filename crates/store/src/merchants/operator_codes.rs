//! Recovery codes of operators: each lets one sign in once without the authenticator.

use chrono::{DateTime, Utc};
use domain::merchants::operator::OperatorId;

use crate::{Failed, HomeTx, Store};

/// Replaces the codes of an operator by those with these hashes.
pub async fn replace(tx: &mut HomeTx, of: OperatorId, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from operator_recovery_code where operator_id = $1", of.0).execute(tx.connection()).await?;
    sqlx::query!(
        "insert into operator_recovery_code (operator_id, code_hash) select $1, code.hash from unnest($2::bytea[]) as code (hash)",
        of.0,
        hashes,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Uses a code up. False if there is no such code, or it has been used.
pub async fn take(tx: &mut HomeTx, of: OperatorId, hash: &[u8], now: DateTime<Utc>) -> Result<bool, Failed> {
    let taken = sqlx::query!(
        "update operator_recovery_code set used_at = $3 where operator_id = $1 and code_hash = $2 and used_at is null",
        of.0,
        hash,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(taken.rows_affected() == 1)
}

/// The number of codes that an operator has left.
pub async fn left(store: &Store, of: OperatorId) -> Result<i64, Failed> {
    let left =
        sqlx::query_scalar!(r#"select count(*) as "left!" from operator_recovery_code where operator_id = $1 and used_at is null"#, of.0,);
    Ok(left.fetch_one(&store.pool).await?)
}
