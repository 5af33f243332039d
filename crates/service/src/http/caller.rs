//! Who calls: authorisation is the type of a handler's argument.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use domain::access::Scope;
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretString};

use super::error::ApiError;
use crate::app::App;
use crate::bearer::{self, Hash};

/// The scopes that a route asks for, as a type: any of them opens it.
pub(super) trait Asks: Send + Sync {
    const SCOPES: &'static [Scope];
}

/// For routes that `orders` opens.
pub(super) struct Orders;

impl Asks for Orders {
    const SCOPES: &'static [Scope] = &[Scope::Orders];
}

/// For routes that `carrier` opens.
pub(super) struct Carriers;

impl Asks for Carriers {
    const SCOPES: &'static [Scope] = &[Scope::Carrier];
}

/// For routes that `warehouse` opens.
pub(super) struct Warehouses;

impl Asks for Warehouses {
    const SCOPES: &'static [Scope] = &[Scope::Warehouse];
}

/// For routes that `orders` opens, and `warehouse` as well.
pub(super) struct OrdersOrWarehouses;

impl Asks for OrdersOrWarehouses {
    const SCOPES: &'static [Scope] = &[Scope::Orders, Scope::Warehouse];
}

/// A caller whose token opens a scope of `S`.
pub(super) struct Caller<S> {
    /// Whose data the call is about; there is no other source for it.
    pub(super) merchant: MerchantId,
    token: Hash,
    scope: PhantomData<S>,
}

/// A merchant's system.
pub(super) type Merchant = Caller<Orders>;

/// A carrier's system, or that of a partner who collects.
pub(super) type Carrier = Caller<Carriers>;

/// A warehouse's system.
pub(super) type Warehouse = Caller<Warehouses>;

/// A merchant's system, or that of a warehouse.
pub(super) type MerchantOrWarehouse = Caller<OrdersOrWarehouses>;

impl<S: Asks> FromRequestParts<App> for Caller<S> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let token = bearer_token(parts).ok_or(ApiError::Unauthorized { token_given: false })?;
        let unknown = ApiError::Unauthorized { token_given: true };
        let Some(merchant) = bearer::merchant_of(&token) else { return Err(unknown) };
        let caller = Self { merchant, token: bearer::hash(token.expose_secret()), scope: PhantomData };
        caller.may_go_on(app).await?;
        tracing::debug!(%merchant, "authorised");
        Ok(caller)
    }
}

impl<S: Asks> Caller<S> {
    /// Whether the token still opens the route; for calls that outlast a look-up.
    pub(super) async fn may_go_on(&self, app: &App) -> Result<(), ApiError> {
        let unknown = ApiError::Unauthorized { token_given: true };
        let Some(grant) = app.grants.look_up(app, self.merchant, self.token).await? else { return Err(unknown) };
        if grant.revoked || grant.expires_at <= app.now() {
            return Err(unknown);
        }
        if grant.paused {
            return Err(ApiError::Paused);
        }
        if !S::SCOPES.iter().any(|scope| grant.scopes.allow(*scope)) {
            return Err(ApiError::MissingScope(S::SCOPES));
        }
        Ok(())
    }
}

/// The token in `Authorization: Bearer …`; the scheme in any case.
fn bearer_token(parts: &Parts) -> Option<SecretString> {
    let value = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().into())
}
