//! `GET /exceptions`: what warehouses found that does not match, over all merchants.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::warehouse::open_exceptions::{self, OpenException};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::form::Query;
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;

/// The rows of a page.
const PAGE: usize = 50;

#[derive(Deserialize)]
pub(super) struct Filter {
    after: Option<Uuid>,
}

struct Row {
    exception: OpenException,
    found: Stamp,
}

#[derive(Template)]
#[template(path = "console/exceptions.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    more: Option<Uuid>,
}

pub(super) async fn list(by: By<Viewer>, Query(filter): Query<Filter>) -> Result<Response, ConsoleError> {
    let wanted = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let mut found = open_exceptions::list(by.app.cell(), filter.after, wanted + 1).await?;
    let more = (found.len() > PAGE).then(|| found.get(PAGE - 1).map(|last| last.id)).flatten();
    found.truncate(PAGE);
    let rows: Vec<Row> = found.into_iter().map(|exception| Row { found: by.ago(exception.found_at), exception }).collect();
    let (count, _) = open_exceptions::count(by.app.cell(), MOST_COUNTED).await?;
    let heading = format!("Receiving exceptions: {}", Count::of(count));
    render(&Page { frame: by.frame(Section::Today, &heading), rows, more })
}
