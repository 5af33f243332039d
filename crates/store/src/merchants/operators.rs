//! Operators: the people who work with the console. They belong to no merchant.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::{Operator, OperatorId, Role};
use uuid::Uuid;

use crate::{Failed, HomeTx, Store};

/// The constraint on e-mail addresses.
pub const EMAIL_IS_UNIQUE: &str = "operator_email_is_unique";

/// The most operators that are listed.
const MOST_LISTED: i64 = 500;

/// An operator with what they sign in with. It has no `Debug`, because that is secret.
pub struct Account {
    pub operator: Operator,
    /// A PHC string.
    pub password_hash: Option<String>,
    pub totp: Option<SealedSecret>,
    /// The newest step whose code was used.
    pub totp_step: i64,
    pub disabled_at: Option<DateTime<Utc>>,
}

/// A sealed secret, and the key that opens it.
pub struct SealedSecret {
    pub key_id: String,
    pub bytes: Vec<u8>,
}

/// An operator as the list shows them.
#[derive(Clone, Debug)]
pub struct Listed {
    pub operator: Operator,
    pub has_password: bool,
    pub has_totp: bool,
    pub created_at: DateTime<Utc>,
    pub disabled_at: Option<DateTime<Utc>>,
    /// The last request in any session that is still stored.
    pub seen_at: Option<DateTime<Utc>>,
    /// How they signed in last.
    pub means: Option<String>,
    /// Live sessions.
    pub sessions: i64,
    /// The end of a link that they have not used yet.
    pub invited_until: Option<DateTime<Utc>>,
}

/// An operator from the columns of a row.
pub(super) fn operator(id: Uuid, email: String, name: String, role: &str) -> Result<Operator, Failed> {
    let role: Role = role.parse().map_err(|_| Failed::Internal("a stored operator has an unknown role"))?;
    Ok(Operator { id: OperatorId(id), email, name, role })
}

/// The operator with this e-mail address, in lower case.
pub async fn find(store: &Store, email: &str) -> Result<Option<Account>, Failed> {
    account(store, None, Some(email)).await
}

/// The operator with this id.
pub async fn get(store: &Store, id: OperatorId) -> Result<Option<Account>, Failed> {
    account(store, Some(id), None).await
}

async fn account(store: &Store, id: Option<OperatorId>, email: Option<&str>) -> Result<Option<Account>, Failed> {
    let row = sqlx::query!(
        r#"
        select operator_id, email, name, role, password_hash, totp_secret, totp_key_id, totp_step, disabled_at
        from operator
        where operator_id = $1 or email = $2
        "#,
        id.map(|id| id.0),
        email,
    )
    .fetch_optional(&store.pool)
    .await?;
    let account = row.map(|row| {
        let operator = operator(row.operator_id, row.email, row.name, &row.role)?;
        let totp = row.totp_key_id.zip(row.totp_secret).map(|(key_id, bytes)| SealedSecret { key_id, bytes });
        Ok(Account { operator, password_hash: row.password_hash, totp, totp_step: row.totp_step, disabled_at: row.disabled_at })
    });
    account.transpose()
}

/// Locks the operator with this id, and says whether they are disabled.
pub async fn lock(tx: &mut HomeTx, id: OperatorId) -> Result<Option<(Operator, bool)>, Failed> {
    let row = sqlx::query!(
        r#"select operator_id, email, name, role, disabled_at is not null as "disabled!" from operator where operator_id = $1 for update"#,
        id.0,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| Ok((operator(row.operator_id, row.email, row.name, &row.role)?, row.disabled))).transpose()
}

/// Adds an operator.
pub async fn insert(tx: &mut HomeTx, operator: &Operator, created_by: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into operator (operator_id, email, name, role, created_by, created_at) values ($1, $2, $3, $4, $5, $6)",
        operator.id.0,
        operator.email,
        operator.name,
        operator.role.as_str(),
        created_by,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Saves name and role.
pub async fn save(tx: &mut HomeTx, operator: &Operator) -> Result<(), Failed> {
    sqlx::query!("update operator set name = $2, role = $3 where operator_id = $1", operator.id.0, operator.name, operator.role.as_str(),)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Disables an operator at `disabled_at`, or enables them again.
pub async fn save_disabled(tx: &mut HomeTx, id: OperatorId, disabled_at: Option<DateTime<Utc>>) -> Result<(), Failed> {
    sqlx::query!("update operator set disabled_at = $2 where operator_id = $1", id.0, disabled_at).execute(tx.connection()).await?;
    Ok(())
}

/// Saves a password's hash, or that there is none.
pub async fn save_password(tx: &mut HomeTx, id: OperatorId, hash: Option<&str>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "update operator set password_hash = $2, password_set_at = case when $2::text is null then null else $3::timestamptz end where operator_id = $1",
        id.0,
        hash,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Takes the authenticator away.
pub async fn remove_totp(tx: &mut HomeTx, id: OperatorId) -> Result<(), Failed> {
    sqlx::query!("update operator set totp_secret = null, totp_key_id = null, totp_step = 0 where operator_id = $1", id.0)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Sets the authenticator up, with the step of the code that showed that it works. False if there is one already.
pub async fn enrol_totp(tx: &mut HomeTx, id: OperatorId, secret: &SealedSecret, step: i64) -> Result<bool, Failed> {
    let enrolled = sqlx::query!(
        "update operator set totp_secret = $2, totp_key_id = $3, totp_step = $4 where operator_id = $1 and totp_secret is null",
        id.0,
        secret.bytes,
        secret.key_id,
        step,
    )
    .execute(tx.connection())
    .await?;
    Ok(enrolled.rows_affected() == 1)
}

/// Uses up the code of `step`. False if it, or a later one, has been used.
pub async fn use_step(tx: &mut HomeTx, id: OperatorId, step: i64) -> Result<bool, Failed> {
    let used = sqlx::query!("update operator set totp_step = $2 where operator_id = $1 and totp_step < $2", id.0, step)
        .execute(tx.connection())
        .await?;
    Ok(used.rows_affected() == 1)
}

/// True if there is any operator.
pub async fn any(store: &Store) -> Result<bool, Failed> {
    Ok(sqlx::query_scalar!(r#"select exists (select from operator) as "any!""#).fetch_one(&store.pool).await?)
}

/// Locks out other first operators until the transaction ends, and returns true if there is no operator yet.
pub async fn lock_the_first(tx: &mut HomeTx) -> Result<bool, Failed> {
    // There is no operator's row to lock yet. That of the installation is there once.
    sqlx::query!("select from installation for update").execute(tx.connection()).await?;
    Ok(sqlx::query_scalar!(r#"select not exists (select from operator) as "none!""#).fetch_one(tx.connection()).await?)
}

/// Locks the enabled administrators, so that two of them cannot end each other at the same moment.
pub async fn lock_admins(tx: &mut HomeTx) -> Result<Vec<OperatorId>, Failed> {
    let admins = sqlx::query_scalar!(
        "select operator_id from operator where role = 'admin' and disabled_at is null order by operator_id for update",
    );
    Ok(admins.fetch_all(tx.connection()).await?.into_iter().map(OperatorId).collect())
}

/// The enabled operators of the role support and above, by name.
pub async fn list_workers(store: &Store) -> Result<Vec<Operator>, Failed> {
    let rows = sqlx::query!(
        "select operator_id, email, name, role from operator where disabled_at is null and role <> 'viewer' order by name, email limit $1",
        MOST_LISTED,
    );
    let rows = rows.fetch_all(&store.pool).await?;
    rows.into_iter().map(|row| operator(row.operator_id, row.email, row.name, &row.role)).collect()
}

/// All operators by name, the enabled ones first.
pub async fn list(store: &Store, idle: TimeDelta, longest: TimeDelta, now: DateTime<Utc>) -> Result<Vec<Listed>, Failed> {
    let rows = sqlx::query!(
        r#"
        select
            operator.operator_id, operator.email, operator.name, operator.role, operator.created_at, operator.disabled_at,
            operator.password_hash is not null as "has_password!", operator.totp_secret is not null as "has_totp!",
            session.seen_at as "seen_at?", session.means as "means?", session.live as "live?", invitation.expires_at as "invited_until?"
        from operator
        left join lateral (
            select
                max(recent.seen_at) as seen_at,
                (array_agg(recent.means order by recent.started_at desc))[1] as means,
                count(*) filter (where recent.ended_at is null and recent.seen_at > $1 and recent.started_at > $2) as live
            from (
                select * from operator_session as of where of.operator_id = operator.operator_id order by of.started_at desc limit 50
            ) as recent
        ) as session on true
        left join lateral (
            select max(link.expires_at) as expires_at
            from operator_invitation as link
            where link.operator_id = operator.operator_id and link.used_at is null and link.expires_at > $3
        ) as invitation on true
        order by operator.disabled_at is not null, operator.name, operator.email
        limit $4
        "#,
        now - idle,
        now - longest,
        now,
        MOST_LISTED,
    )
    .fetch_all(&store.pool)
    .await?;
    let listed = rows.into_iter().map(|row| {
        Ok(Listed {
            operator: operator(row.operator_id, row.email, row.name, &row.role)?,
            has_password: row.has_password,
            has_totp: row.has_totp,
            created_at: row.created_at,
            disabled_at: row.disabled_at,
            seen_at: row.seen_at,
            means: row.means,
            sessions: row.live.unwrap_or_default(),
            invited_until: row.invited_until,
        })
    });
    listed.collect()
}
