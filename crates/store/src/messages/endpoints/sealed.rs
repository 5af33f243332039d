//! The sealed secrets of endpoints, to be sealed anew. Those of removed endpoints are among them, because their old answers are
//! searched for them.

use domain::id::EndpointId;
use uuid::Uuid;

use crate::{Failed, Tx};

/// The sealed secrets of an endpoint.
pub struct SealedSecrets {
    pub endpoint_id: Uuid,
    pub key_id: String,
    pub authentication: Vec<u8>,
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
}

/// The secrets of the merchant's endpoints that its data key has not sealed, locked until the transaction ends.
pub async fn lock_without_data_key(tx: &mut Tx) -> Result<Vec<SealedSecrets>, Failed> {
    let secrets = sqlx::query_as!(
        SealedSecrets,
        r#"
        select endpoint_id, key_id, authentication, secret, previous_secret
        from endpoint
        where merchant_id = $1 and not internal and key_id <> '@merchant'
        order by endpoint_id
        for update
        "#,
        tx.merchant().0,
    );
    Ok(secrets.fetch_all(tx.connection()).await?)
}

/// Saves secrets that were sealed anew. The revision stays, because nothing changes for those who call the endpoint.
pub async fn save(tx: &mut Tx, endpoint: EndpointId, secrets: &SealedSecrets) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint
        set key_id = $3, authentication = $4, secret = $5, previous_secret = $6
        where merchant_id = $1 and endpoint_id = $2
        "#,
        tx.merchant().0,
        endpoint.0,
        secrets.key_id,
        secrets.authentication,
        secrets.secret,
        secrets.previous_secret,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
