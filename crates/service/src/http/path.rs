//! Path parameters, read before a handler runs.
//!
//! A path whose parameter cannot be read names nothing, so it is answered with 404, exactly like an identifier that nobody has.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use uuid::Uuid;

use super::error::ApiError;

/// The resource that a path names: `Named<Uuid>` for one parameter, `Named<(String, String)>` for two.
pub(super) struct Named<T>(pub(super) T);

/// A type that can be read from one path parameter.
pub(super) trait PathParameter: Sized {
    /// Reads the parameter's text, with percent-encoding already removed.
    fn read(text: String) -> Option<Self>;
}

impl PathParameter for String {
    /// No stored identifier has a NUL, and PostgreSQL refuses even to compare with one.
    fn read(text: String) -> Option<Self> {
        (!text.contains('\0')).then_some(text)
    }
}

impl PathParameter for Uuid {
    fn read(text: String) -> Option<Self> {
        text.parse().ok()
    }
}

impl<T: PathParameter, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(text) = Path::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
        T::read(text).map(Self).ok_or(ApiError::NotFound)
    }
}

impl<A: PathParameter, B: PathParameter, S: Send + Sync> FromRequestParts<S> for Named<(A, B)> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path((first, second)) = Path::from_request_parts(parts, state).await.map_err(|_| ApiError::NotFound)?;
        let both = A::read(first).zip(B::read(second));
        both.map(Self).ok_or(ApiError::NotFound)
    }
}
