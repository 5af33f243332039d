//! Ids of which a person gives the beginning only.

use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store};

/// What has the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identified {
    Message,
    ReceivingException,
    OrderImport,
    /// A job that retries the failures of an endpoint.
    RetryJob,
    ReplayJob,
}

/// The merchant's ids of this kind from `first` to `last`; two at most, which is enough to know that there are several.
pub async fn list(store: &Store, merchant: MerchantId, of: Identified, first: Uuid, last: Uuid) -> Result<Vec<Uuid>, Failed> {
    let merchant = merchant.0;
    let found = match of {
        Identified::Message => {
            sqlx::query_scalar!(
                "select message_id from message where merchant_id = $1 and message_id between $2 and $3 limit 2",
                merchant,
                first,
                last,
            )
            .fetch_all(&store.pool)
            .await?
        }
        Identified::ReceivingException => {
            sqlx::query_scalar!(
                "select exception_id from receiving_exception where merchant_id = $1 and exception_id between $2 and $3 limit 2",
                merchant,
                first,
                last,
            )
            .fetch_all(&store.pool)
            .await?
        }
        Identified::OrderImport => {
            sqlx::query_scalar!(
                "select import_id from order_import where merchant_id = $1 and import_id between $2 and $3 limit 2",
                merchant,
                first,
                last,
            )
            .fetch_all(&store.pool)
            .await?
        }
        Identified::RetryJob => {
            sqlx::query_scalar!(
                "select job_id from retry_job where merchant_id = $1 and job_id between $2 and $3 limit 2",
                merchant,
                first,
                last,
            )
            .fetch_all(&store.pool)
            .await?
        }
        Identified::ReplayJob => {
            sqlx::query_scalar!(
                "select job_id from replay_job where merchant_id = $1 and job_id between $2 and $3 limit 2",
                merchant,
                first,
                last,
            )
            .fetch_all(&store.pool)
            .await?
        }
    };
    Ok(found)
}
