//! Rendering a page.

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};

use super::error::ConsoleError;

/// Renders a page.
pub(super) fn render(page: &impl Template) -> Result<Response, ConsoleError> {
    Ok(Html(page.render()?).into_response())
}
