//! The sealed secrets of endpoints and carrier accounts: opening and sealing them.

use domain::id::{EndpointId, MerchantId};
use secrecy::{ExposeSecret as _, SecretString};
use store::messages::endpoints::Endpoint;
use store::returns::carrier_accounts::Account;

use super::authentication::{Authentication, NoAuthentication};
use super::signature::{NoSecret, Secret};
use crate::delivery::handle::Delivery;
use crate::platform::keys::sealing::{Context, NotOpened, NotSealed, Sealed};

/// The secrets of an endpoint.
pub struct Secrets {
    pub authentication: Authentication,
    /// Signs the messages.
    pub secret: Secret,
    /// The secret before the current one. While a secret is being replaced, both sign.
    pub previous: Option<Secret>,
}

fn context(merchant: MerchantId, endpoint: EndpointId, column: &str) -> Context<'_> {
    Context { merchant, row: endpoint.0, column }
}

const AUTHENTICATION: &str = "endpoint.authentication";
const SECRET: &str = "endpoint.secret";
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
}

impl Secrets {
    /// Opens the secrets of an endpoint.
    pub fn open(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, Unusable> {
        let open = |column, bytes: &[u8]| {
            let sealed = Sealed { key_id: endpoint.key_id.clone(), bytes: bytes.to_vec() };
            delivery.keyring.open(&context(merchant, endpoint.id, column), &sealed)
        };
        let secret = |bytes: &[u8]| Ok::<_, Unusable>(Secret::from_bytes(open(SECRET, bytes)?.expose_secret())?);
        Ok(Self {
            authentication: Authentication::from_json(open(AUTHENTICATION, &endpoint.authentication)?.expose_secret())?,
            secret: secret(&endpoint.secret)?,
            previous: endpoint.previous_secret.as_ref().map(|(bytes, _)| secret(bytes)).transpose()?,
        })
    }

    /// Seals the secrets with the current key and puts them into `endpoint`.
    pub fn seal(&self, delivery: &Delivery, merchant: MerchantId, endpoint: &mut Endpoint) -> Result<(), Unusable> {
        let id = endpoint.id;
        let seal = |column, plain: &[u8]| delivery.keyring.seal(&context(merchant, id, column), plain, &delivery.entropy);
        let Sealed { key_id, bytes } = seal(AUTHENTICATION, &self.authentication.to_json()?)?;
        endpoint.key_id = key_id;
        endpoint.authentication = bytes;
        endpoint.secret = seal(SECRET, self.secret.bytes())?.bytes;
        endpoint.previous_secret = match (&self.previous, &endpoint.previous_secret) {
            (Some(previous), Some((_, until))) => Some((seal(SECRET, previous.bytes())?.bytes, *until)),
            _ => None,
        };
        Ok(())
    }
}

/// The secrets of a carrier account.
pub struct CarrierKeys {
    /// Authenticates our calls to the carrier.
    pub api_key: SecretString,
    /// Signs the carrier's webhooks.
    pub webhook_secret: SecretString,
}

impl CarrierKeys {
    /// Opens the secrets of an account.
    pub fn open(delivery: &Delivery, merchant: MerchantId, account: &Account) -> Result<Self, Unusable> {
        let open = |column, bytes: &[u8]| {
            let sealed = Sealed { key_id: account.key_id.clone(), bytes: bytes.to_vec() };
            let plain = delivery.keyring.open(&Context { merchant, row: merchant.0, column }, &sealed)?;
            let text = std::str::from_utf8(plain.expose_secret()).map_err(|_| NotOpened::Spoilt)?;
            Ok::<_, Unusable>(SecretString::from(text))
        };
        Ok(Self { api_key: open(API_KEY, &account.api_key)?, webhook_secret: open(WEBHOOK_SECRET, &account.webhook_secret)? })
    }

    /// Seals the secrets with the current key and puts them into `account`.
    pub fn seal(&self, delivery: &Delivery, merchant: MerchantId, account: &mut Account) -> Result<(), Unusable> {
        let seal = |column, plain: &SecretString| {
            delivery.keyring.seal(&Context { merchant, row: merchant.0, column }, plain.expose_secret().as_bytes(), &delivery.entropy)
        };
        let Sealed { key_id, bytes } = seal(API_KEY, &self.api_key)?;
        account.key_id = key_id;
        account.api_key = bytes;
        account.webhook_secret = seal(WEBHOOK_SECRET, &self.webhook_secret)?.bytes;
        Ok(())
    }
}
