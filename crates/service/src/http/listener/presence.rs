//! A connection as others see it: whether its caller has authenticated, with which client certificate, and whether it has
//! to give way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio::sync::Notify;

use super::deadlines::Deadlines;
use crate::http::error::ApiError;
use crate::platform::client_certificate::ClientCertificate;

/// A connection and its caller; every request carries it as an extension. Clones share their state.
#[derive(Clone)]
pub(in crate::http) struct Presence(Arc<State>);

struct State {
    deadlines: Deadlines,
    authenticated: AtomicBool,
    gives_way: Notify,
    certificate: OnceLock<ClientCertificate>,
}

impl Presence {
    pub(super) fn new(deadlines: Deadlines) -> Self {
        Self(Arc::new(State { deadlines, authenticated: AtomicBool::new(false), gives_way: Notify::new(), certificate: OnceLock::new() }))
    }

    /// Notes the certificate that the client has shown and proved in the handshake.
    pub(super) fn show(&self, certificate: Option<ClientCertificate>) {
        if let Some(certificate) = certificate {
            // A connection has one handshake.
            let _ = self.0.certificate.set(certificate);
        }
    }

    /// The certificate that the client has shown and proved in the handshake, if any.
    pub(in crate::http) fn certificate(&self) -> Option<ClientCertificate> {
        self.0.certificate.get().copied()
    }

    /// Notes that the caller has shown a valid token, secret or signature.
    pub(in crate::http) fn authenticate(&self) {
        self.0.authenticated.store(true, Ordering::Relaxed);
    }

    /// True if the connection may be closed in favour of another: nobody knows its caller, and no request is in flight.
    pub(super) fn may_give_way(&self) -> bool {
        !self.0.authenticated.load(Ordering::Relaxed) && self.0.deadlines.is_idle()
    }

    /// Has the connection closed.
    pub(super) fn give_way(&self) {
        self.0.gives_way.notify_one();
    }

    /// Resolves when the connection has to be closed.
    pub(super) async fn gives_way(&self) {
        self.0.gives_way.notified().await;
    }
}

impl<S: Sync> FromRequestParts<S> for Presence {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| ApiError::Internal("a request without a connection".to_owned()))
    }
}
