//! History imports: `/v1/order_imports`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use bytes::Bytes;
use domain::id::MerchantId;
use serde_json::value::RawValue;
use store::orders::imports;
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::orders::import::{ImportQuery, OrderImport, OrderImports, RefusedLine, RefusedLines};
use wire::page::PageQuery;

use crate::app::App;
use crate::flow::orders::import_orders::{self as flow, Cause, Interrupted, ResumeError, Resumed, Source, SourceError, describe};
use crate::http::body::{LinesBody, MOST_DISCARDED};
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::http::page::Page;
use crate::http::path::Named;
use crate::http::rate;
use crate::node::shares::{Full, Most, Party};

/// Seconds after which there may be room for another import.
const RETRY_AFTER: u32 = 5;

/// Import order history.
///
/// The body has one order per line, each as in `orders` of the order message, and may be of any size. Every line is read on its
/// own: a refused line is reported and the others are stored. If the connection breaks, everything read so far is stored; send
/// the same file again with `resume` to continue. Blank lines are skipped; a line has at most 1 MiB.
#[utoipa::path(
    post,
    path = "/v1/order_imports",
    tag = "imports",
    security(("oauth2" = ["orders"])),
    params(ImportQuery),
    request_body(
        description = "One order per line.",
        content(
            (ref("#/components/schemas/Order") = "application/x-ndjson"),
            (ref("#/components/schemas/Order") = "application/jsonl"),
        ),
    ),
    responses(
        (status = 200, description = "Every line was read, now or before.", body = OrderImport),
        (status = 400, description = "The connection broke, or the body is not the file that the import began with.", body = ErrorBody),
        (status = 404, description = "The merchant has no such import to resume.", body = ErrorBody),
        (status = 408, description = "The body stopped arriving. Resume the import.", body = ErrorBody),
        (status = 409, description = "Another request is running this import.", body = ErrorBody),
        (status = 415, description = "The body is not JSON lines.", body = ErrorBody),
        (status = 500, description = "The service failed. Resume the import with exponential backoff.", body = ErrorBody),
        (status = 503, description = "The service is unavailable. Resume the import with exponential backoff.", body = ErrorBody),
    )
)]
pub(crate) async fn send(
    State(app): State<App>,
    caller: Merchant,
    query: Result<Query<ImportQuery>, QueryRejection>,
    mut lines: LinesBody,
) -> Result<Json<OrderImport>, ApiError> {
    let most = Most::quartered(app.settings.imports.at_a_time.get().into());
    let _running = match app.imports.take(Party::Merchant(caller.merchant), 1, most) {
        Ok(share) => share,
        Err(full) => {
            lines.discard(MOST_DISCARDED).await;
            return Err(no_room(&app, caller.merchant, query, full).await?);
        }
    };
    let run = match start(&app, caller.merchant, query).await {
        Ok(Resumed::Run(run)) => run,
        Ok(Resumed::Done(import)) => {
            lines.discard(usize::MAX).await;
            return Ok(Json(describe(&import, app.now())));
        }
        Err(error) => {
            lines.discard(MOST_DISCARDED).await;
            return Err(error);
        }
    };
    let mut source = Authorised { app: &app, caller: &caller, lines, arrived: None, refused: None };
    match flow::run(&app, run, &mut source, Arc::new(|_| ())).await {
        Ok(import) => Ok(Json(describe(&import, app.now()))),
        Err(Interrupted { import, cause }) => {
            if source.refused.is_some() || !matches!(cause, Cause::Source(_)) {
                source.lines.discard(MOST_DISCARDED).await;
            }
            let cause = source.refused.unwrap_or_else(|| cause.into());
            Err(ApiError::Interrupted(import, Box::new(cause)))
        }
    }
}

/// The error of an import for which there is no room. If it is the one that is running, that says more.
async fn no_room(
    app: &App,
    merchant: MerchantId,
    query: Result<Query<ImportQuery>, QueryRejection>,
    full: Full,
) -> Result<ApiError, ApiError> {
    if let Some(resumed) = query.ok().and_then(|Query(query)| query.resume?.parse().ok())
        && let Some(import) = imports::find(app.store(merchant), merchant, resumed).await?
        && import.state == imports::State::Running
        && import.leased_until.is_some_and(|until| until > app.now())
    {
        return Ok(ApiError::ImportRunning);
    }
    Ok(rate::full(app, [Exceeded::Imports, Exceeded::ImportsOfMerchant], full, RETRY_AFTER))
}

/// The lines of a caller, as long as it may send them: an import can take hours, in which its credential may be revoked or its
/// merchant paused.
struct Authorised<'a> {
    app: &'a App,
    caller: &'a Merchant,
    lines: LinesBody,
    /// The piece that has arrived while the caller is checked.
    arrived: Option<Result<Bytes, End>>,
    refused: Option<ApiError>,
}

/// There are no more lines.
struct End;

impl Source for Authorised<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, SourceError> {
        if self.arrived.is_none() {
            self.arrived = Some(self.lines.next().await?.ok_or(End));
        }
        if let Err(error) = self.caller.check(self.app).await {
            self.refused = Some(error);
            return Err(SourceError::Gone("the caller may not go on".to_owned()));
        }
        Ok(self.arrived.take().and_then(Result::ok))
    }
}

async fn start(app: &App, merchant: MerchantId, query: Result<Query<ImportQuery>, QueryRejection>) -> Result<Resumed, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("resume must be the id of an import".to_owned()))?;
    let Some(resume) = query.resume else { return Ok(Resumed::Run(flow::begin(app, merchant, None).await?)) };
    let import = resume.parse().map_err(|_| ApiError::NotFound)?;
    flow::resume(app, merchant, import, None).await.map_err(|error| match error {
        ResumeError::Unknown => ApiError::NotFound,
        ResumeError::Running(_) => ApiError::ImportRunning,
        ResumeError::Failed(failed) => failed.into(),
    })
}

impl From<Cause> for ApiError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Source(SourceError::TooSlow) => Self::BodyTooSlow,
            Cause::Source(SourceError::Gone(_)) | Cause::Shorter { .. } => Self::Malformed(cause.to_string()),
            Cause::Leaving => Self::Unavailable(cause.to_string()),
            Cause::TakenOver => Self::ImportRunning,
            Cause::Failed(failed) => failed.into(),
            Cause::ChunkAborted => Self::Internal(cause.to_string()),
        }
    }
}

/// List imports.
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/v1/order_imports",
    tag = "imports",
    security(("oauth2" = ["orders"])),
    params(PageQuery),
    responses(
        (status = 200, description = "A page of imports.", body = OrderImports),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(State(app): State<App>, caller: Merchant, page: Page) -> Result<Json<OrderImports>, ApiError> {
    let mut found = imports::list(app.store(caller.merchant), caller.merchant, page.place()?, page.most()).await?;
    let next = page.cut(&mut found, |last| last.id.to_string());
    let now = app.now();
    Ok(Json(OrderImports { items: found.iter().map(|import| describe(import, now)).collect(), next }))
}

/// Look up an import.
///
/// Its state and progress.
#[utoipa::path(
    get,
    path = "/v1/order_imports/{import_id}",
    tag = "imports",
    security(("oauth2" = ["orders"])),
    params(("import_id" = String, Path, description = "The id of the import.")),
    responses(
        (status = 200, description = "The import.", body = OrderImport),
        (status = 404, description = "The merchant has no such import.", body = ErrorBody),
    )
)]
pub(crate) async fn show(State(app): State<App>, caller: Merchant, Named(id): Named<Uuid>) -> Result<Json<OrderImport>, ApiError> {
    let import = find(&app, caller.merchant, id).await?;
    Ok(Json(describe(&import, app.now())))
}

async fn find(app: &App, merchant: MerchantId, id: Uuid) -> Result<imports::Import, ApiError> {
    imports::find(app.store(merchant), merchant, id).await?.ok_or(ApiError::NotFound)
}

/// List the refused lines of an import.
///
/// In the order of the file, each with its faults. To read on, set `cursor` to the `next` of the answer.
#[utoipa::path(
    get,
    path = "/v1/order_imports/{import_id}/refusals",
    tag = "imports",
    security(("oauth2" = ["orders"])),
    params(("import_id" = String, Path, description = "The id of the import."), PageQuery),
    responses(
        (status = 200, description = "A page of refused lines.", body = RefusedLines),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
        (status = 404, description = "The merchant has no such import.", body = ErrorBody),
    )
)]
pub(crate) async fn report(
    State(app): State<App>,
    caller: Merchant,
    Named(id): Named<Uuid>,
    page: Result<Page, ApiError>,
) -> Result<impl IntoResponse, ApiError> {
    // An unknown import is 404, even if the query is wrong too.
    let import = find(&app, caller.merchant, id).await?;
    let page = page?;
    let after = page.after(|text| text.parse().ok().filter(|line: &i64| *line >= 0))?.unwrap_or_default();
    let mut rows = imports::list_refusals(app.store(caller.merchant), caller.merchant, import.id, after, page.most()).await?;
    let next = page.cut(&mut rows, |last| last.line.to_string());
    let errors: Result<Vec<&RawValue>, _> = rows.iter().map(|row| serde_json::from_str(&row.faults)).collect();
    let errors = errors.map_err(|_| ApiError::Internal("a stored text is not JSON".to_owned()))?;
    let refusals = rows.iter().zip(errors).map(|(row, errors)| RefusedLine {
        line: row.line.unsigned_abs(),
        order_identifier: row.order_identifier.as_deref(),
        errors,
    });
    let answer = RefusedLines { items: refusals.collect(), next };
    let body = serde_json::to_vec(&answer).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}
