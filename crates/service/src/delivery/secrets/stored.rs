//! The sealed secrets of endpoints and carrier accounts: opening and sealing them.
//!
//! They are sealed with the data key of their merchant, which is read with them, so that nothing is kept in memory and a data key that
//! was deleted opens nothing. Earlier versions sealed them with a key of the installation directly; those still open.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use store::merchants::merchant_keys::{self, MerchantKey};
use store::messages::endpoints::sealed::SealedSecrets;
use store::messages::endpoints::{Endpoint, EndpointClient};
use store::returns::carrier_accounts::Account;
use store::{Failed, Tx};

use super::authentication::{Authentication, NoAuthentication};
use super::client_pair::ClientPair;
use super::signature::{NoSecret, Secret};
use crate::delivery::handle::Delivery;
use crate::platform::keys::sealing::{Context, DataKey, NotOpened, NotSealed, OF_MERCHANT, Sealed};

/// The secrets of an endpoint.
pub struct Secrets {
    pub authentication: Authentication,
    /// Signs the messages.
    pub secret: Secret,
    /// The secret before the current one. While a secret is being replaced, both sign.
    pub previous: Option<Secret>,
    /// The client certificate that calls present.
    pub client: Option<ClientPair>,
}

const AUTHENTICATION: &str = "endpoint.authentication";
const SECRET: &str = "endpoint.secret";
const CLIENT_KEY: &str = "endpoint.client_key";
const API_KEY: &str = "carrier_account.api_key";
const WEBHOOK_SECRET: &str = "carrier_account.webhook_secret";

/// The reasons stored secrets cannot be opened or sealed.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    NotOpened(#[from] NotOpened),
    #[error(transparent)]
    NotSealed(#[from] NotSealed),
    #[error(transparent)]
    Secret(#[from] NoSecret),
    #[error(transparent)]
    Authentication(#[from] NoAuthentication),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// What opens the secrets of a row.
enum Opener<'a> {
    /// The merchant's data key.
    Data(DataKey),
    /// A key of the installation, as in earlier versions.
    Direct(&'a Delivery, &'a str),
}

impl<'a> Opener<'a> {
    fn new(delivery: &'a Delivery, merchant: MerchantId, key_id: &'a str, key: Option<&MerchantKey>) -> Result<Self, NotOpened> {
        if key_id != OF_MERCHANT {
            return Ok(Self::Direct(delivery, key_id));
        }
        data_key(delivery, merchant, key.ok_or(NotOpened::NoDataKey)?).map(Self::Data)
    }

    fn open(&self, context: &Context<'_>, bytes: &[u8]) -> Result<SecretSlice<u8>, NotOpened> {
        match self {
            Self::Data(key) => key.open(context, bytes),
            Self::Direct(delivery, key_id) => {
                delivery.keyring.open(context, &Sealed { key_id: (*key_id).to_owned(), bytes: bytes.to_vec() })
            }
        }
    }
}

fn data_key(delivery: &Delivery, merchant: MerchantId, key: &MerchantKey) -> Result<DataKey, NotOpened> {
    delivery.keyring.data_key(merchant, &Sealed { key_id: key.key_id.clone(), bytes: key.sealed.clone() })
}

/// The data key of the transaction's merchant, which is made if there is none.
pub(super) async fn merchant_key(delivery: &Delivery, tx: &mut Tx) -> Result<MerchantKey, Failed> {
    if let Some(key) = merchant_keys::lock(tx).await? {
        return Ok(key);
    }
    let new = delivery.keyring.new_data_key(tx.merchant(), &delivery.entropy);
    let Sealed { key_id, bytes } = new.map_err(|_| Failed::Internal("a data key cannot be sealed"))?;
    merchant_keys::find_or_insert(tx, &MerchantKey { key_id, sealed: bytes }, delivery.now()).await
}

fn context(merchant: MerchantId, endpoint: EndpointId, column: &str) -> Context<'_> {
    Context { merchant, row: endpoint.0, column }
}

impl Secrets {
    /// Opens the secrets of an endpoint.
    pub fn open(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, Unusable> {
        let opener = Opener::new(delivery, merchant, &endpoint.key_id, endpoint.merchant_key.as_ref())?;
        let open = |column, bytes: &[u8]| opener.open(&context(merchant, endpoint.id, column), bytes);
        let client = endpoint.client.as_ref().map(|client| {
            let key = open(CLIENT_KEY, &client.sealed_key)?;
            Ok::<_, Unusable>(ClientPair::from_stored(&client.chain, key))
        });
        let secret = |bytes: &[u8]| Ok::<_, Unusable>(Secret::from_bytes(open(SECRET, bytes)?.expose_secret())?);
        Ok(Self {
            authentication: Authentication::from_json(open(AUTHENTICATION, &endpoint.authentication)?.expose_secret())?,
            secret: secret(&endpoint.secret)?,
            previous: endpoint.previous_secret.as_ref().map(|(bytes, _)| secret(bytes)).transpose()?,
            client: client.transpose()?,
        })
    }

    /// Seals the secrets with the merchant's data key and puts them into `endpoint`.
    pub async fn seal(&self, delivery: &Delivery, tx: &mut Tx, endpoint: &mut Endpoint) -> Result<(), Unusable> {
        let (merchant, id) = (tx.merchant(), endpoint.id);
        let kept = merchant_key(delivery, tx).await?;
        let key = data_key(delivery, merchant, &kept)?;
        let seal = |column, plain: &[u8]| key.seal(&context(merchant, id, column), plain, &delivery.entropy);
        let Sealed { key_id, bytes } = seal(AUTHENTICATION, &self.authentication.to_json()?)?;
        endpoint.merchant_key = Some(kept);
        endpoint.key_id = key_id;
        endpoint.authentication = bytes;
        endpoint.secret = seal(SECRET, self.secret.bytes())?.bytes;
        endpoint.previous_secret = match (&self.previous, &endpoint.previous_secret) {
            (Some(previous), Some((_, until))) => Some((seal(SECRET, previous.bytes())?.bytes, *until)),
            _ => None,
        };
        let client = self.client.as_ref().map(|client| {
            let sealed_key = seal(CLIENT_KEY, client.key())?.bytes;
            Ok::<_, Unusable>(EndpointClient { chain: client.chain(), sealed_key })
        });
        endpoint.client = client.transpose()?;
        Ok(())
    }
}

/// Seals secrets of an endpoint that a key of the installation has sealed with the merchant's data key. The key of a client certificate
/// is not among them: it was never sealed otherwise.
pub(super) fn reseal_endpoint(
    delivery: &Delivery,
    merchant: MerchantId,
    key: &MerchantKey,
    before: &SealedSecrets,
) -> Result<SealedSecrets, Unusable> {
    let (opener, key) = (Opener::new(delivery, merchant, &before.key_id, None)?, data_key(delivery, merchant, key)?);
    let id = EndpointId(before.endpoint_id);
    let reseal = |column, bytes: &[u8]| {
        let context = context(merchant, id, column);
        Ok::<_, Unusable>(key.seal(&context, opener.open(&context, bytes)?.expose_secret(), &delivery.entropy)?.bytes)
    };
    Ok(SealedSecrets {
        endpoint_id: before.endpoint_id,
        key_id: OF_MERCHANT.to_owned(),
        authentication: reseal(AUTHENTICATION, &before.authentication)?,
        secret: reseal(SECRET, &before.secret)?,
        previous_secret: before.previous_secret.as_deref().map(|bytes| reseal(SECRET, bytes)).transpose()?,
    })
}

/// The secrets of a carrier account.
pub struct CarrierKeys {
    /// Authenticates our calls to the carrier.
    pub api_key: SecretString,
    /// Signs the carrier's webhooks.
    pub webhook_secret: SecretString,
    /// The secret before the newest rotation, and the time until which it still signs.
    pub old_webhook_secret: Option<(SecretString, DateTime<Utc>)>,
}

impl CarrierKeys {
    /// Opens the secrets of an account.
    pub fn open(delivery: &Delivery, merchant: MerchantId, account: &Account) -> Result<Self, Unusable> {
        let opener = Opener::new(delivery, merchant, &account.key_id, account.merchant_key.as_ref())?;
        let open = |column, bytes: &[u8]| {
            let plain = opener.open(&Context { merchant, row: merchant.0, column }, bytes)?;
            let text = std::str::from_utf8(plain.expose_secret()).map_err(|_| NotOpened::Spoilt)?;
            Ok::<_, Unusable>(SecretString::from(text))
        };
        let old = account.old_webhook_secret.as_ref();
        Ok(Self {
            api_key: open(API_KEY, &account.api_key)?,
            webhook_secret: open(WEBHOOK_SECRET, &account.webhook_secret)?,
            old_webhook_secret: old.map(|(bytes, until)| Ok::<_, Unusable>((open(WEBHOOK_SECRET, bytes)?, *until))).transpose()?,
        })
    }

    /// Seals the secrets with the merchant's data key and puts them into `account`.
    pub async fn seal(&self, delivery: &Delivery, tx: &mut Tx, account: &mut Account) -> Result<(), Unusable> {
        let merchant = tx.merchant();
        let kept = merchant_key(delivery, tx).await?;
        let key = data_key(delivery, merchant, &kept)?;
        let seal = |column, plain: &SecretString| {
            key.seal(&Context { merchant, row: merchant.0, column }, plain.expose_secret().as_bytes(), &delivery.entropy)
        };
        let Sealed { key_id, bytes } = seal(API_KEY, &self.api_key)?;
        account.merchant_key = Some(kept);
        account.key_id = key_id;
        account.api_key = bytes;
        account.webhook_secret = seal(WEBHOOK_SECRET, &self.webhook_secret)?.bytes;
        let old = self.old_webhook_secret.as_ref();
        account.old_webhook_secret =
            old.map(|(secret, until)| Ok::<_, Unusable>((seal(WEBHOOK_SECRET, secret)?.bytes, *until))).transpose()?;
        Ok(())
    }
}
