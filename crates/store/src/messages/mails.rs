//! Mails to shoppers that have not been deleted yet.

use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use uuid::Uuid;

use crate::{Failed, Store};

/// The ids of the mails about `subject`, a return or an order, oldest first.
pub async fn list(store: &Store, merchant: MerchantId, subject: &str) -> Result<Vec<Uuid>, Failed> {
    let ids = sqlx::query_scalar!(
        "select message_id from message where merchant_id = $1 and subject = $2 and internal and kind = $3 order by message_id",
        merchant.0,
        subject,
        Kind::Internal(Internal::Mail).as_str(),
    );
    Ok(ids.fetch_all(&store.pool).await?)
}
