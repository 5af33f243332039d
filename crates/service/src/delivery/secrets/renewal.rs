//! Sealing the secrets of a merchant anew, when the keys of the installation have changed.

use domain::id::EndpointId;
use store::messages::endpoints::sealed;
use store::returns::carrier_accounts;
use store::{Failed, Tx};

use super::stored::{CarrierKeys, merchant_key, reseal_endpoint};
use crate::delivery::handle::Delivery;
use crate::platform::keys::sealing::{OF_MERCHANT, Sealed};

/// Seals the secrets of the transaction's merchant with its data key, and the data key with the active key. Returns the number of
/// things that were sealed anew.
pub async fn renew(delivery: &Delivery, tx: &mut Tx) -> Result<usize, Failed> {
    let unusable = |_| Failed::Internal("a stored secret does not open; keys.sealing lacks its key");
    let merchant = tx.merchant();
    let mut renewed = 0;
    let mut key = merchant_key(delivery, tx).await?;
    if !delivery.keyring.is_current(&key.key_id) {
        let before = Sealed { key_id: key.key_id, bytes: key.sealed };
        let Sealed { key_id, bytes } = delivery.keyring.reseal_data_key(merchant, &before, &delivery.entropy).map_err(unusable)?;
        key = store::merchants::merchant_keys::MerchantKey { key_id, sealed: bytes };
        store::merchants::merchant_keys::save(tx, &key).await?;
        renewed += 1;
    }
    for before in sealed::lock_without_data_key(tx).await? {
        let id = EndpointId(before.endpoint_id);
        let after = reseal_endpoint(delivery, merchant, &key, &before).map_err(|_| Failed::Internal("a stored secret does not open"))?;
        sealed::save(tx, id, &after).await?;
        renewed += 1;
    }
    if let Some(mut account) = carrier_accounts::find(tx).await?.filter(|account| account.key_id != OF_MERCHANT) {
        let keys = CarrierKeys::open(delivery, merchant, &account).map_err(|_| Failed::Internal("a stored secret does not open"))?;
        keys.seal(delivery, tx, &mut account).await.map_err(|_| Failed::Internal("a secret cannot be sealed"))?;
        carrier_accounts::save(tx, &account).await?;
        renewed += 1;
    }
    Ok(renewed)
}
