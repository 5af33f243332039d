//! Authorisation: the type of a handler's argument says which scopes its route needs.

use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::id::MerchantId;
use domain::merchants::access::Scope;
use secrecy::{ExposeSecret as _, SecretString};

use super::address::Client;
use super::asker::{Asker, Known};
use super::error::ApiError;
use super::listener::Presence;
use crate::app::App;
use crate::node::security::{Event, Needs, TokenFault, Who};
use crate::node::shares::Party;
use crate::platform::client_certificate::ClientCertificate;
use crate::platform::keys::bearer::{self, Hash};

/// The scopes of a route, as a type: a token needs any one of them.
pub(super) trait RequiredScopes: Send + Sync {
    const SCOPES: &'static [Scope];
}

/// For routes that need the scope `orders`.
pub(super) struct Orders;

impl RequiredScopes for Orders {
    const SCOPES: &'static [Scope] = &[Scope::Orders];
}

/// For routes that need the scope `carrier`.
pub(super) struct Carriers;

impl RequiredScopes for Carriers {
    const SCOPES: &'static [Scope] = &[Scope::Carrier];
}

/// For routes that need the scope `warehouse`.
pub(super) struct Warehouses;

impl RequiredScopes for Warehouses {
    const SCOPES: &'static [Scope] = &[Scope::Warehouse];
}

/// For routes that need the scope `orders` or `warehouse`.
pub(super) struct OrdersOrWarehouses;

impl RequiredScopes for OrdersOrWarehouses {
    const SCOPES: &'static [Scope] = &[Scope::Orders, Scope::Warehouse];
}

/// A caller whose token has a scope of `S`.
pub(super) struct Caller<S> {
    /// The merchant whose data the call is about. It comes from the token and from nowhere else.
    pub(super) merchant: MerchantId,
    token: Hash,
    /// The address that the call comes from.
    from: IpAddr,
    /// The client certificate of the connection.
    certificate: Option<ClientCertificate>,
    asker: Asker,
    scope: PhantomData<S>,
}

/// A merchant's system.
pub(super) type Merchant = Caller<Orders>;

/// A carrier's system, or that of a partner who collects parcels.
pub(super) type Carrier = Caller<Carriers>;

/// A warehouse's system.
pub(super) type Warehouse = Caller<Warehouses>;

/// A merchant's or a warehouse's system.
pub(super) type MerchantOrWarehouse = Caller<OrdersOrWarehouses>;

impl<S: RequiredScopes> FromRequestParts<App> for Caller<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let token = bearer_token(&parts.headers).ok_or(ApiError::Unauthorized { token_given: false })?;
        let Some(merchant) = bearer::merchant_of(&token, &app.fingerprints) else { return Err(refused(None, TokenFault::Unknown)) };
        let Client { exact: from, .. } = Client::from_request_parts(parts, app).await?;
        let presence = Presence::from_request_parts(parts, app).await?;
        let certificate = presence.certificate();
        let asker = parts.extensions.get::<Asker>().cloned().unwrap_or_default();
        let caller = Self { merchant, token: bearer::hash(token.expose_secret()), from, certificate, asker, scope: PhantomData };
        caller.check(app).await?;
        parts.extensions.insert(Party::Merchant(merchant));
        presence.authenticate();
        tracing::debug!(%merchant, "authorised a caller");
        Ok(caller)
    }
}

impl<S: RequiredScopes> Caller<S> {
    /// Checks that the token is valid for the route. Long calls repeat this, so that a revocation ends them.
    pub(super) async fn check(&self, app: &App) -> Result<(), ApiError> {
        let Some((grant, fresh)) = app.grants.look_up(app, self.merchant, self.token).await? else {
            return Err(refused(None, TokenFault::Unknown));
        };
        // From here on the log names the caller, also of a request that is refused.
        let (handle, client_id) = (Some(Arc::clone(&grant.handle)), Arc::clone(&grant.client_id));
        self.asker.is(Known { merchant: self.merchant, handle, client_id });
        if grant.revoked {
            return Err(refused(Some(self.merchant), TokenFault::Revoked));
        }
        if grant.expires_at <= app.now() {
            return Err(refused(Some(self.merchant), TokenFault::Expired));
        }
        // Before anything that is answered in words: whoever stole the token learns nothing about it.
        if let Err(fault) = grant.binding.check(self.certificate, app.clock.wall()) {
            return Err(refused(Some(self.merchant), fault.into()));
        }
        if !grant.allows(self.from) {
            Event::AccessRefused { merchant: Some(self.merchant), reason: TokenFault::ForeignNetwork }.log();
            return Err(ApiError::ForeignNetwork);
        }
        let who = Who::Merchant(self.merchant);
        if grant.paused {
            Event::PermissionDenied { who, needs: Needs::ActiveMerchant }.log();
            return Err(ApiError::Paused);
        }
        if !S::SCOPES.iter().any(|scope| grant.scopes.allow(*scope)) {
            Event::PermissionDenied { who, needs: Needs::Scope }.log();
            return Err(ApiError::MissingScope(S::SCOPES));
        }
        // A cached grant was noted when it was looked up, so most calls do not come here.
        if fresh {
            app.grants.used(&grant.client_id, app.now());
        }
        Ok(())
    }
}

/// The error of a request whose token does not work.
fn refused(merchant: Option<MerchantId>, reason: TokenFault) -> ApiError {
    Event::AccessRefused { merchant, reason }.log();
    ApiError::Unauthorized { token_given: true }
}

/// Reads the token from `Authorization: Bearer …`; the case of the scheme does not matter.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<SecretString> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().into())
}
