//! The operator API, `/admin/v1`: the commands of the command line, for operators' scripts.
//!
//! The command line gives the commands ([`Commands`]) and runs them. This module knows what HTTP adds: personal tokens, roles,
//! limits, and how answers and problems are written. It takes no cookies, so no other site can use somebody's session here.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use domain::merchants::operator::Role;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use store::Failed;
use store::merchants::operator_tokens::Live;

use super::body::JsonBody;
use super::caller::bearer_token;
use super::error::{ApiError, ErrorFormat, Exceeded, PROBLEM};
use super::listener::Presence;
use super::middleware::{render, serve};
use super::rate;
use super::request_id::RequestId;
use crate::app::App;
use crate::flow::merchants::operators::tokens;
use crate::node::security::{Event, Needs, Who};

/// The requests of one token that a node admits in a minute.
pub const MOST_PER_MINUTE: u32 = 300;

/// The path below which the operations are.
const PREFIX: &str = "/admin/v1/";

/// The media type of an answer to `backhaul --server`: both outputs of the command, and its error.
pub const TERMINAL: &str = "application/vnd.backhaul.terminal+json";

/// The commands behind the API.
pub struct Commands {
    pub operations: Vec<Operation>,
    /// The OpenAPI document.
    pub document: String,
    pub run: Run,
}

/// A command that can be called.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The path below `/admin/v1/`: the words of the command.
    pub path: String,
    pub role: Role,
    /// It changes nothing.
    pub reads: bool,
}

/// Runs a command.
pub type Run = fn(App, Call) -> Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A call of a command.
pub struct Call {
    /// The path of the operation.
    pub path: String,
    pub parameters: Map<String, Value>,
    /// The output is JSON, not a table.
    pub as_json: bool,
    /// The terminal at which somebody looks at the output.
    pub screen: Option<Screen>,
    /// The token of the caller, with the role that it has.
    pub token: Live,
}

/// A terminal, as the caller describes it: `columns=80;utc=true;colours=true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub columns: usize,
    /// Times are shown as they are, and not by their age.
    pub utc: bool,
    pub coloured: bool,
}

impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "columns={};utc={};colours={}", self.columns, self.utc, self.coloured)
    }
}

impl Screen {
    /// Reads the parameters of a media type. Without a width nobody looks.
    fn read(parameters: &str) -> Option<Self> {
        let value = |name: &str| parameters.split(';').filter_map(|one| one.trim().split_once('=')).find(|(own, _)| *own == name);
        let is = |name: &str| value(name).is_some_and(|(_, value)| value == "true");
        let (_, columns) = value("columns")?;
        Some(Self { columns: columns.parse().ok()?, utc: is("utc"), coloured: is("colours") })
    }
}

/// The answer of a command.
#[derive(Debug)]
pub struct Answer {
    pub out: String,
    pub notes: String,
    pub end: End,
}

/// The end of a command.
#[derive(Debug)]
pub enum End {
    Done,
    /// The parameters are not those of the command.
    BadParameters(String),
    Refused(String),
    /// Somebody has to confirm: what would happen, and the word that they type at a terminal.
    Unconfirmed {
        question: String,
        word: String,
    },
    Failed(Failed),
}

/// The router of the API.
pub(super) fn router(app: &App, commands: Commands) -> Router {
    let commands = Arc::new(commands);
    let document: Arc<str> = commands.document.as_str().into();
    let call = move |State(app): State<App>, request: Request| call(app, Arc::clone(&commands), request);
    Router::new()
        .route("/admin/v1/openapi.json", get(async move || ([(header::CONTENT_TYPE, "application/json")], document.to_string())))
        .route("/admin/v1/{*words}", any(call))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(from_fn(confine))
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app.clone())
}

/// Keeps commands to the connections of the console.
async fn confine(request: Request, next: Next) -> Response {
    store::confined(next.run(request)).await
}

/// Handles one request, from its id to its log line. Every fault is a problem as in RFC 9457.
async fn handle(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = serve(&app, request, next, |response, id, route| render(response, id, route, ErrorFormat::Problem)).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Runs the command that a request names, for the person whose token it has.
async fn call(app: App, commands: Arc<Commands>, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let token = bearer_token(&parts.headers).ok_or(ApiError::NoPersonalToken { token_given: false })?;
    let Some(token) = tokens::find(&app, &token).await? else {
        Event::PersonalTokenRefused.log();
        return Err(ApiError::NoPersonalToken { token_given: true });
    };
    Presence::from_request_parts(&mut parts, &app).await?.authenticate();
    let verdict = app.rates.tokens.take(token.id, app.clock.uptime().as_secs(), MOST_PER_MINUTE);
    if !verdict.admitted {
        return Err(rate::refuse(&app, Exceeded::RequestsOfToken, verdict));
    }
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default().to_owned();
    let operation = commands.operations.iter().find(|operation| operation.path == path).ok_or(ApiError::NoSuchOperation)?;
    if !token.role.allows(operation.role) {
        Event::PermissionDenied { who: Who::Operator(token.operator.id), needs: Needs::Role(operation.role) }.log();
        return Err(ApiError::RoleTooLow { needed: operation.role, has: token.role });
    }
    if parts.method != (if operation.reads { Method::GET } else { Method::POST }) {
        let mut refused = ApiError::MethodNotAllowed.into_response();
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static(if operation.reads { "GET" } else { "POST" }));
        return Ok(refused);
    }
    let (shape, id) = (Shape::accepted_by(&parts.headers), parts.extensions.get::<RequestId>().cloned());
    let parameters = if operation.reads {
        in_query(parts.uri.query().unwrap_or_default())?
    } else {
        in_body(Request::from_parts(parts, body), &app).await?
    };
    let call = Call { path, parameters, as_json: shape.is_json(), screen: shape.screen(), token };
    shape.write((commands.run)(app, call).await, &id.map(|id| id.0).unwrap_or_default())
}

/// The parameters in the query. A name that occurs several times is a list.
fn in_query(query: &str) -> Result<Map<String, Value>, ApiError> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).map_err(|error| ApiError::BadQuery(error.to_string()))?;
    let mut values: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, value) in pairs {
        values.entry(name).or_default().push(value.into());
    }
    let one = |mut values: Vec<Value>| if values.len() == 1 { values.swap_remove(0) } else { Value::Array(values) };
    Ok(values.into_iter().map(|(name, values)| (name, one(values))).collect())
}

/// The parameters in the body: a JSON object, or nothing.
async fn in_body(request: Request, app: &App) -> Result<Map<String, Value>, ApiError> {
    let JsonBody(body) = JsonBody::<{ super::size::MOST_BYTES }>::from_request(request, app).await?;
    if body.is_empty() {
        return Ok(Map::new());
    }
    // What cannot be read is not repeated, because a secret may be in it.
    serde_json::from_slice(&body).map_err(|_| ApiError::Malformed("it is not a JSON object with the parameters".to_owned()))
}

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The JSON of the command.
    Json,
    /// The table of the command.
    Text,
    /// Everything that a terminal shows, for `backhaul --server`.
    Terminal { as_json: bool, screen: Option<Screen> },
}

/// Everything that a terminal shows.
#[derive(Serialize)]
struct Terminal<'a> {
    out: &'a str,
    notes: &'a str,
    error: Option<&'a str>,
    question: Option<&'a str>,
    confirm_with: Option<&'a str>,
}

/// The problem of a command.
#[derive(Serialize)]
struct CommandProblem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

/// The words for whoever has to confirm.
const UNCONFIRMED: &str = "confirmation is needed; send the same request with `yes` set to true";

/// The words for whoever asks for too much.
const TOO_SLOW: &str = "it took longer than 2 seconds and was given up, so that deliveries are not slowed down; ask for less, such as a shorter time or a lower limit";

impl Shape {
    fn accepted_by(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match accept.split(';').next().unwrap_or_default().trim() {
            TERMINAL => Self::Terminal { as_json: accept.contains("output=json"), screen: Screen::read(accept) },
            "text/plain" => Self::Text,
            _ => Self::Json,
        }
    }

    const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Terminal { as_json: true, .. })
    }

    const fn screen(self) -> Option<Screen> {
        match self {
            Self::Terminal { screen, .. } => screen,
            Self::Json | Self::Text => None,
        }
    }

    fn write(self, answer: Answer, request_id: &str) -> Result<Response, ApiError> {
        let Answer { out, notes, end } = answer;
        let (status, error, asked) = match &end {
            End::Done => (StatusCode::OK, None, None),
            End::BadParameters(why) => (StatusCode::BAD_REQUEST, Some(why.as_str()), None),
            End::Refused(why) => (StatusCode::UNPROCESSABLE_ENTITY, Some(why.as_str()), None),
            End::Unconfirmed { question, word } => (StatusCode::CONFLICT, Some(UNCONFIRMED), Some((question.as_str(), word.as_str()))),
            End::Failed(failed) if failed.timed_out() => (StatusCode::SERVICE_UNAVAILABLE, Some(TOO_SLOW), None),
            End::Failed(failed) => return Err(failed.clone().into()),
        };
        let (question, confirm_with) = asked.unzip();
        let (kind, body) = match (self, error) {
            (Self::Terminal { .. }, error) => (TERMINAL, write(&Terminal { out: &out, notes: &notes, error, question, confirm_with })?),
            (_, Some(detail)) => {
                let title = status.canonical_reason().unwrap_or_default();
                let result = if out.is_empty() { None } else { Some(serde_json::from_str(&out).unwrap_or(Value::String(out))) };
                let problem = CommandProblem { kind: "about:blank", title, status: status.as_u16(), detail, request_id, question, result };
                (PROBLEM, write(&problem)?)
            }
            (Self::Text, None) => ("text/plain; charset=utf-8", out + &notes),
            (Self::Json, None) if serde_json::from_str::<IgnoredAny>(&out).is_ok() => ("application/json", out),
            (Self::Json, None) => {
                let message = if out.is_empty() { &notes } else { &out };
                ("application/json", write(&BTreeMap::from([("message", message.trim_end())]))?)
            }
        };
        Ok((status, [(header::CONTENT_TYPE, kind)], body).into_response())
    }
}

fn write(body: &impl Serialize) -> Result<String, ApiError> {
    serde_json::to_string(body).map_err(|error| ApiError::Internal(error.to_string()))
}
