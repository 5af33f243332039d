//! Who asks, once a request has shown it: for the log line of the request, and for the words about what is absent.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use domain::id::MerchantId;

/// The place where the caller of a request is noted.
#[derive(Clone, Default)]
pub(super) struct Asker(Arc<OnceLock<Known>>);

/// A caller that is known.
pub(super) struct Known {
    pub(super) merchant: MerchantId,
    /// The merchant's handle, if the request looked it up.
    pub(super) handle: Option<Arc<str>>,
    pub(super) client_id: Arc<str>,
}

impl Asker {
    /// The place of a request, which is made on the first call.
    pub(super) fn of(request: &mut Request) -> Self {
        request.extensions_mut().get_or_insert_default::<Self>().clone()
    }

    /// Notes the caller. The first note stays.
    pub(super) fn is(&self, known: Known) {
        let _ = self.0.set(known);
    }

    /// The caller, if it is known.
    pub(super) fn known(&self) -> Option<&Known> {
        self.0.get()
    }
}
