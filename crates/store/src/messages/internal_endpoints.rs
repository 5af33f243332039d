//! Endpoints for internal work: mails, the operator's webhook, labels. They are created with a merchant's first such work.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Internal, bucket_of};

use crate::connection::Connection;
use crate::failed::Failed;

/// Concurrent calls, and calls per second, for one merchant's internal work. They are low because the operator's systems serve
/// all merchants.
const INTERNAL_SLOTS: i32 = 4;
const INTERNAL_RATE: i32 = 20;

/// Creates the internal endpoints that `merchant` does not have yet, always all of them and in the same order, so that two
/// transactions cannot deadlock.
pub(crate) async fn insert(connection: &mut Connection, merchant: MerchantId, now: DateTime<Utc>) -> Result<(), Failed> {
    let ids = Internal::ALL.map(|internal| internal.endpoint_of(merchant).0);
    sqlx::query!(
        r#"
        insert into endpoint (
            merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url, key_id,
            authentication, secret, internal
        )
        select $1, ours.endpoint_id, $2, $2, 1, $3, $4, ours.bucket, ours.interface, '', '', '', '', true
        from unnest($5::uuid[], $6::smallint[], $7::text[]) as ours (endpoint_id, bucket, interface)
        order by ours.interface
        -- Whichever of its keys another transaction met us at.
        on conflict do nothing
        "#,
        merchant.0,
        now,
        INTERNAL_SLOTS,
        INTERNAL_RATE,
        &ids,
        &ids.map(|id| i16::from(bucket_of(id))),
        &Internal::ALL.map(Internal::as_str) as &[&str],
    )
    .execute(connection)
    .await?;
    Ok(())
}
