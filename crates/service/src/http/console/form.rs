//! What a page reads of a request: the path, the filters in the address, and the fields of a form.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::error::ConsoleError;
use crate::app::App;
use crate::http::body;

/// The largest form, in bytes: a selection of a thousand messages fits.
const MOST_BYTES: usize = 256 * 1024;

/// The fields of a form. Forms of other sites never come this far.
pub(super) struct Form<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = ConsoleError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ConsoleError> {
        let bytes = body::read(request, app, MOST_BYTES).await?;
        serde_urlencoded::from_bytes(&bytes).map(Self).map_err(|_| ConsoleError::Foreign)
    }
}

/// The fields of a form in the order in which they were sent, for forms in which one name occurs several times.
pub(super) type Fields = Form<Vec<(String, String)>>;

/// The fields of a form by their names, each of which occurs once. A box that is not ticked is absent.
pub(super) type Typed = BTreeMap<String, String>;

/// A form that is shown with what was typed.
pub(super) struct Filled(pub(super) Typed);

impl Filled {
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(super) fn is_ticked(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The filters in the address.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ConsoleError> {
        let axum::extract::Query(filters) = axum::extract::Query::from_request_parts(parts, app).await?;
        Ok(Self(filters))
    }
}

/// The variable parts of the path. One that cannot be read leads nowhere.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ConsoleError> {
        let axum::extract::Path(path) = axum::extract::Path::from_request_parts(parts, app).await?;
        Ok(Self(path))
    }
}
