//! The page of a list that a request asks for: `limit` and `cursor`, the same for every list.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use wire::page::{BadPage, PageQuery, USUAL, cut, read_cursor, read_limit};

use super::error::ApiError;

/// The page that a request asks for.
pub(super) struct Page {
    /// The most items of the page, within the bounds.
    pub(super) limit: u32,
    cursor: Option<String>,
}

impl Page {
    /// The place after which the page begins, as `read` understands the cursor.
    pub(super) fn after<T>(&self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
        Ok(read_cursor(self.cursor.as_deref(), read)?)
    }

    /// The place after which the page begins, if it is written as itself.
    pub(super) fn place<T: std::str::FromStr>(&self) -> Result<Option<T>, ApiError> {
        self.after(|text| text.parse().ok())
    }

    /// The cursor as it was given.
    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The number of items to read: one more than the page has, to see if there are more.
    pub(super) fn most(&self) -> i64 {
        i64::from(self.limit) + 1
    }

    /// Takes what is beyond the page off `found`, and says where to read on.
    pub(super) fn cut<T>(&self, found: &mut Vec<T>, place: impl FnOnce(&T) -> String) -> Option<String> {
        cut(found, self.limit, place)
    }
}

impl From<BadPage> for ApiError {
    fn from(bad: BadPage) -> Self {
        Self::BadQuery(bad.to_string())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Query(PageQuery { cursor, limit }) = Query::from_request_parts(parts, state).await.map_err(|_| BadPage::Unreadable)?;
        let limit = limit.as_deref().map_or(Ok(USUAL), read_limit)?;
        Ok(Self { limit, cursor })
    }
}

/// A filter by an identifier.
pub(super) fn identifier(text: Option<&str>) -> Result<Option<&str>, ApiError> {
    // PostgreSQL refuses even to compare with a NUL.
    match text {
        Some(text) if text.contains('\0') => Err(ApiError::BadQuery("a filter contains a NUL, which no identifier does".to_owned())),
        other => Ok(other),
    }
}

impl From<QueryRejection> for ApiError {
    /// Filters are texts, so a query that cannot be read has one of them twice, or no text at all.
    fn from(_: QueryRejection) -> Self {
        Self::BadQuery("a parameter is given twice, or is not text in UTF-8".to_owned())
    }
}
