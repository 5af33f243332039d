//! Tickets: what a browser keeps between two steps of a sign-in. They are sealed, so that nobody can read or change them, and work
//! for ten minutes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::merchants::operator::OperatorId;
use secrecy::{ExposeSecret, SecretString};
use store::Failed;
use store::merchants::operators::{Account, SealedSecret};
use uuid::Uuid;

use crate::app::App;
use crate::platform::keys::bearer;
use crate::platform::keys::sealing::{Context, Sealed};
use crate::platform::keys::totp::TotpSecret;

/// The time for which a ticket works.
pub const WORKS_FOR: TimeDelta = TimeDelta::minutes(10);

/// Nobody is the merchant of what concerns operators.
const NOBODY: MerchantId = MerchantId(Uuid::nil());
const TOTP_SECRET: &str = "operator.totp_secret";
const HALF: &str = "console.half_sign_in";
const AUTHORISATION: &str = "console.authorisation";

/// A sign-in whose password was right, and whose second step is to come.
#[derive(Clone, Debug)]
pub struct HalfSignIn {
    pub operator: OperatorId,
    /// Changes with the password, so that a ticket does not outlive it.
    password_tag: String,
    /// The secret of the authenticator that is being set up, if the person has none yet.
    pub enrolling: Option<TotpSecret>,
    /// The page that was asked for.
    pub next: String,
}

/// A sign-in for which the person was sent to the identity provider.
#[derive(Clone, Debug)]
pub struct Authorisation {
    pub state: SecretString,
    pub nonce: SecretString,
    pub verifier: SecretString,
    /// The page that was asked for.
    pub next: String,
}

impl HalfSignIn {
    /// The ticket of a person whose password was right. Without an authenticator, one is set up.
    pub(super) fn new(app: &App, account: &Account, next: &str) -> Self {
        let enrolling = account.totp.is_none().then(|| TotpSecret::new(&app.entropy));
        Self { operator: account.operator.id, password_tag: password_tag(account), enrolling, next: next.to_owned() }
    }

    /// True if the account's password is still the one that was right.
    pub(super) fn fits(&self, account: &Account) -> bool {
        account.disabled_at.is_none() && bearer::same(password_tag(account).as_bytes(), self.password_tag.as_bytes())
    }

    /// The text for the browser.
    pub fn seal(&self, app: &App) -> Result<SecretString, Failed> {
        let secret = self.enrolling.as_ref().map(TotpSecret::text);
        let secret = secret.as_ref().map_or("", |secret| secret.expose_secret());
        seal(app, HALF, &[&self.operator.to_string(), &self.password_tag, secret, &self.next])
    }

    /// Reads the text of a browser.
    #[must_use]
    pub fn open(app: &App, text: &str) -> Option<Self> {
        let [operator, password_tag, secret, next]: [String; 4] = open(app, HALF, text)?.try_into().ok()?;
        let enrolling = if secret.is_empty() { None } else { Some(TotpSecret::parse(&secret)?) };
        Some(Self { operator: OperatorId(operator.parse().ok()?), password_tag, enrolling, next })
    }
}

impl Authorisation {
    /// The text for the browser.
    pub fn seal(&self, app: &App) -> Result<SecretString, Failed> {
        let secrets = [&self.state, &self.nonce, &self.verifier].map(ExposeSecret::expose_secret);
        let [state, nonce, verifier] = secrets;
        seal(app, AUTHORISATION, &[state, nonce, verifier, &self.next])
    }

    /// Reads the text of a browser.
    #[must_use]
    pub fn open(app: &App, text: &str) -> Option<Self> {
        let [state, nonce, verifier, next]: [String; 4] = open(app, AUTHORISATION, text)?.try_into().ok()?;
        Some(Self { state: state.into(), nonce: nonce.into(), verifier: verifier.into(), next })
    }
}

/// A short hash of the stored hash, which says nothing about the password.
fn password_tag(account: &Account) -> String {
    let hash = bearer::hash(account.password_hash.as_deref().unwrap_or_default());
    URL_SAFE_NO_PAD.encode(hash.get(..12).unwrap_or_default())
}

fn context(column: &str) -> Context<'_> {
    Context { merchant: NOBODY, row: Uuid::nil(), column }
}

fn seal(app: &App, column: &str, fields: &[&str]) -> Result<SecretString, Failed> {
    let sealed_at = app.now().timestamp_millis().to_string();
    let plain = [&[sealed_at.as_str()], fields].concat().join("\n");
    let sealed = app.keyring.seal(&context(column), plain.as_bytes(), &app.entropy);
    let sealed = sealed.map_err(|_| Failed::Internal("a ticket cannot be sealed"))?;
    Ok(format!("{}.{}", sealed.key_id, URL_SAFE_NO_PAD.encode(sealed.bytes)).into())
}

fn open(app: &App, column: &str, text: &str) -> Option<Vec<String>> {
    let (key_id, bytes) = text.split_once('.')?;
    let sealed = Sealed { key_id: key_id.to_owned(), bytes: URL_SAFE_NO_PAD.decode(bytes).ok()? };
    let plain = app.keyring.open(&context(column), &sealed).ok()?;
    let plain = std::str::from_utf8(plain.expose_secret()).ok()?;
    let mut fields = plain.split('\n').map(str::to_owned);
    let sealed_at: DateTime<Utc> = DateTime::from_timestamp_millis(fields.next()?.parse().ok()?)?;
    let age = app.now() - sealed_at;
    (age >= TimeDelta::zero() && age < WORKS_FOR).then(|| fields.collect())
}

/// Seals the secret of an operator's authenticator for the database.
pub(super) fn seal_totp(app: &App, of: OperatorId, secret: &TotpSecret) -> Result<SealedSecret, Failed> {
    let context = Context { merchant: NOBODY, row: of.0, column: TOTP_SECRET };
    let sealed = app.keyring.seal(&context, secret.bytes(), &app.entropy);
    let Sealed { key_id, bytes } = sealed.map_err(|_| Failed::Internal("a secret cannot be sealed"))?;
    Ok(SealedSecret { key_id, bytes })
}

/// The secret of an operator's authenticator, sealed with the active key; none if it is already, or if there is none.
pub(super) fn renew_totp(app: &App, account: &Account) -> Result<Option<SealedSecret>, Failed> {
    if account.totp.as_ref().is_none_or(|sealed| app.keyring.is_current(&sealed.key_id)) {
        return Ok(None);
    }
    open_totp(app, account)?.map(|secret| seal_totp(app, account.operator.id, &secret)).transpose()
}

/// Opens the secret of an operator's authenticator.
pub(super) fn open_totp(app: &App, account: &Account) -> Result<Option<TotpSecret>, Failed> {
    let Some(SealedSecret { key_id, bytes }) = &account.totp else { return Ok(None) };
    let context = Context { merchant: NOBODY, row: account.operator.id.0, column: TOTP_SECRET };
    let opened = app.keyring.open(&context, &Sealed { key_id: key_id.clone(), bytes: bytes.clone() });
    let opened = opened.map_err(|_| Failed::Internal("the secret of an authenticator does not open; keys.sealing lacks its key"))?;
    Ok(Some(TotpSecret::from_bytes(opened.expose_secret())))
}
