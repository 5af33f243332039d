//! Security events: one line in the log, under a target of its own, for whatever an investigation asks for first.
//!
//! Every event is here and in the table of `docs/security-events.md`. A line names clients, merchants, operators and tokens by their
//! ids, and where the request came from; it holds no e-mail address, no secret, and nothing that a caller wrote.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use domain::merchants::operator::{OperatorId, Role};
use uuid::Uuid;

use super::log_lines::LogLines;
use super::rate::Address;
use crate::platform::client_certificate::CertificateFault;
use crate::platform::metrics::SecurityEvents;

const SIGNED_IN: &str = "sign_in.succeeded";
const SIGN_IN_REFUSED: &str = "sign_in.refused";
const SECOND_FACTOR_WRONG: &str = "sign_in.second_factor_wrong";
/// The events that alarms watch.
pub const WATCHED: [&str; 3] = [SIGNED_IN, SIGN_IN_REFUSED, SECOND_FACTOR_WRONG];

/// The target of the events in the log.
pub const TARGET: &str = "security";

tokio::task_local! {
    /// The request that is being handled; not set for commands at a terminal.
    static ORIGIN: Origin;
}

/// Where a request came from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub request_id: String,
    pub address: Address,
    /// The lines that the log may have.
    pub lines: Arc<LogLines>,
    /// The counts of events.
    pub counts: SecurityEvents,
    /// The uptime at which the request came.
    pub uptime: Duration,
}

/// Does the work of a request, whose events name its origin.
pub async fn from<F: Future>(origin: Origin, work: F) -> F::Output {
    ORIGIN.scope(origin, work).await
}

/// Does a part of the work of a request that takes no time, whose events name its origin.
pub fn during<T>(origin: Origin, work: impl FnOnce() -> T) -> T {
    ORIGIN.sync_scope(origin, work)
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A client got an access token.
    TokenIssued { client: &'a str, merchant: MerchantId },
    /// A client got no access token. Clients that are not known have no name here: it may be a secret in the wrong field.
    TokenRefused { client: Option<(&'a str, MerchantId)>, reason: TokenFault },
    /// A request carried an access token that does not work. The merchant is known unless the token never was one.
    AccessRefused { merchant: Option<MerchantId>, reason: TokenFault },
    /// A credential ended, and with it every token issued for it.
    CredentialRevoked { client: &'a str, merchant: MerchantId },
    /// A limit refused a request. The reasons are those of `backhaul_rate_limited_total`, `sign_in` and `portal`.
    LimitHit { limit: &'static str },
    /// Somebody who is known asked for what they may not do.
    PermissionDenied { who: Who, needs: Needs },
    /// A webhook was not signed with the account's secret.
    SignatureRefused,
    /// A form came from another site.
    ForeignForm,
    /// An operator signed in.
    SignedIn { operator: OperatorId, means: &'static str },
    /// The first step of a sign-in failed. The operator is known unless there is no such account.
    SignInRefused { operator: Option<OperatorId>, reason: SignInFault },
    /// The code of an authenticator, or a recovery code, was wrong or used before.
    SecondFactorWrong { operator: OperatorId },
    /// An operator made a personal token.
    PersonalTokenMade { operator: OperatorId, token: Uuid },
    /// A personal token ended.
    PersonalTokenRevoked { operator: OperatorId, token: Uuid },
    /// A request carried a personal token that does not work.
    PersonalTokenRefused,
}

/// The reasons that a client or a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    Unknown,
    WrongSecret,
    Revoked,
    Expired,
    /// It came from outside of the credential's networks.
    ForeignNetwork,
    /// The credential is bound to a client certificate, and the connection has none.
    NoCertificate,
    /// The connection has another client certificate than those of the credential.
    ForeignCertificate,
    /// The connection has the right client certificate, which has expired.
    ExpiredCertificate,
}

/// The reasons that the first step of a sign-in fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInFault {
    UnknownAccount,
    WrongPassword,
    Disabled,
    /// The identity provider's answer was not accepted, or named no role.
    Provider,
}

/// Somebody who is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Merchant(MerchantId),
    Operator(OperatorId),
}

/// What somebody lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// One of the scopes of the route.
    Scope,
    Role(Role),
    /// The merchant is paused.
    ActiveMerchant,
}

/// The fields of a line besides the event and its origin.
#[derive(Default)]
struct Facts<'a> {
    client: Option<&'a str>,
    merchant: Option<MerchantId>,
    operator: Option<OperatorId>,
    token: Option<Uuid>,
    reason: Option<&'a str>,
}

impl TokenFault {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::WrongSecret => "wrong_secret",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::ForeignNetwork => "foreign_network",
            Self::NoCertificate => "no_certificate",
            Self::ForeignCertificate => "foreign_certificate",
            Self::ExpiredCertificate => "expired_certificate",
        }
    }
}

impl From<CertificateFault> for TokenFault {
    fn from(fault: CertificateFault) -> Self {
        match fault {
            CertificateFault::Missing => Self::NoCertificate,
            CertificateFault::Foreign => Self::ForeignCertificate,
            CertificateFault::Expired => Self::ExpiredCertificate,
        }
    }
}

impl SignInFault {
    const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownAccount => "unknown_account",
            Self::WrongPassword => "wrong_password",
            Self::Disabled => "disabled",
            Self::Provider => "provider",
        }
    }
}

impl Needs {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Role(role) => role.as_str(),
            Self::ActiveMerchant => "active_merchant",
        }
    }
}

impl<'a> Event<'a> {
    /// The name in the log and in the documentation.
    const fn name(self) -> &'static str {
        match self {
            Self::TokenIssued { .. } => "token.issued",
            Self::TokenRefused { .. } => "token.refused",
            Self::AccessRefused { .. } => "access.refused",
            Self::CredentialRevoked { .. } => "credential.revoked",
            Self::LimitHit { .. } => "limit.hit",
            Self::PermissionDenied { .. } => "permission.denied",
            Self::SignatureRefused => "signature.refused",
            Self::ForeignForm => "form.foreign",
            Self::SignedIn { .. } => SIGNED_IN,
            Self::SignInRefused { .. } => SIGN_IN_REFUSED,
            Self::SecondFactorWrong { .. } => SECOND_FACTOR_WRONG,
            Self::PersonalTokenMade { .. } => "personal_token.made",
            Self::PersonalTokenRevoked { .. } => "personal_token.revoked",
            Self::PersonalTokenRefused => "personal_token.refused",
        }
    }

    fn facts(self) -> Facts<'a> {
        match self {
            Self::TokenIssued { client, merchant } | Self::CredentialRevoked { client, merchant } => {
                Facts { client: Some(client), merchant: Some(merchant), ..Facts::default() }
            }
            Self::TokenRefused { client, reason } => Facts {
                client: client.map(|(client, _)| client),
                merchant: client.map(|(_, merchant)| merchant),
                reason: Some(reason.as_str()),
                ..Facts::default()
            },
            Self::AccessRefused { merchant, reason } => Facts { merchant, reason: Some(reason.as_str()), ..Facts::default() },
            Self::LimitHit { limit } => Facts { reason: Some(limit), ..Facts::default() },
            Self::PermissionDenied { who: Who::Merchant(merchant), needs } => {
                Facts { merchant: Some(merchant), reason: Some(needs.as_str()), ..Facts::default() }
            }
            Self::PermissionDenied { who: Who::Operator(operator), needs } => {
                Facts { operator: Some(operator), reason: Some(needs.as_str()), ..Facts::default() }
            }
            Self::SignedIn { operator, means } => Facts { operator: Some(operator), reason: Some(means), ..Facts::default() },
            Self::SignInRefused { operator, reason } => Facts { operator, reason: Some(reason.as_str()), ..Facts::default() },
            Self::SecondFactorWrong { operator } => Facts { operator: Some(operator), ..Facts::default() },
            Self::PersonalTokenMade { operator, token } | Self::PersonalTokenRevoked { operator, token } => {
                Facts { operator: Some(operator), token: Some(token), ..Facts::default() }
            }
            Self::SignatureRefused | Self::ForeignForm | Self::PersonalTokenRefused => Facts::default(),
        }
    }

    /// Whether somebody was refused, which they can repeat as often as they like.
    const fn refuses(self) -> bool {
        match self {
            Self::TokenRefused { .. }
            | Self::AccessRefused { .. }
            | Self::LimitHit { .. }
            | Self::PermissionDenied { .. }
            | Self::SignatureRefused
            | Self::ForeignForm
            | Self::SignInRefused { .. }
            | Self::SecondFactorWrong { .. }
            | Self::PersonalTokenRefused => true,
            Self::TokenIssued { .. }
            | Self::CredentialRevoked { .. }
            | Self::SignedIn { .. }
            | Self::PersonalTokenMade { .. }
            | Self::PersonalTokenRevoked { .. } => false,
        }
    }

    /// Counts the event, and writes it to the log, unless it is a refusal and there have been too many in this second.
    pub fn log(self) {
        let origin = ORIGIN.try_with(Origin::clone).ok();
        if let Some(origin) = &origin {
            origin.counts.happened(self.name());
        }
        if self.refuses() && origin.as_ref().is_some_and(|origin| !origin.lines.admit_security(origin.uptime)) {
            return;
        }
        let Facts { client, merchant, operator, token, reason } = self.facts();
        tracing::info!(
            target: TARGET,
            event = self.name(),
            request_id = origin.as_ref().map(|origin| origin.request_id.as_str()),
            address = origin.as_ref().map(|origin| display(origin.address)),
            client,
            merchant = merchant.map(display),
            operator = operator.map(display),
            token = token.map(display),
            reason,
            "security event"
        );
    }
}
