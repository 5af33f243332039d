//! Mails to shoppers that have not been deleted yet.

use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use uuid::Uuid;

use crate::{Failed, Store};

/// The ids of the newest mails about `subject`, a return or an order, at most `most` of them, oldest first.
pub async fn list(store: &Store, merchant: MerchantId, subject: &str, most: i64) -> Result<Vec<Uuid>, Failed> {
    let ids = sqlx::query_scalar!(
        r#"
        select message_id
        from message
        where merchant_id = $1 and subject = $2 and internal and kind = $3
        order by message_id desc
        limit $4
        "#,
        merchant.0,
        subject,
        Kind::Internal(Internal::Mail).as_str(),
        most,
    );
    let mut ids = ids.fetch_all(&store.pool).await?;
    ids.reverse();
    Ok(ids)
}
