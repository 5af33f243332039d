//! The errors of the console. Each becomes a page of its own for the person who asked.

use askama::Template;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use domain::merchants::operator::Role;
use store::Failed;

use super::frame::Frame;
use super::person::Person;
use super::view::View;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::pages::headers;
use crate::http::request_id::RequestId;

/// An error of a page.
#[derive(Clone, Debug)]
pub(super) enum ConsoleError {
    NotFound,
    /// The form was not sent from one of our pages, or cannot be read.
    Foreign,
    /// Nobody is signed in; carries the page that was asked for.
    SignIn(String),
    /// The person's role does not suffice; this one would.
    NoPermission(Role),
    /// Somebody else has changed it meanwhile; carries what happened and what to do.
    Conflict(String),
    /// It cannot be done; carries why and what to do.
    Refused(String),
    /// Too many attempts; carries when to come back.
    TooMany(String),
    /// The page could not be read in time.
    TooSlow,
    /// Carries the cause, which is logged and not shown.
    Unavailable(String),
    /// Carries the cause, which is logged and not shown.
    Internal(String),
}

impl ConsoleError {
    const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Foreign | Self::NoPermission(_) => StatusCode::FORBIDDEN,
            Self::SignIn(_) => StatusCode::SEE_OTHER,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::TooSlow | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn log(&self, id: &RequestId, route: &str) {
        if let Self::Unavailable(why) | Self::Internal(why) = self {
            tracing::error!(request_id = id.0, route, why, status = self.status().as_u16(), "showing a page of the console failed");
        }
    }

    /// The heading and the text of the page.
    fn words(&self) -> (&'static str, String) {
        match self {
            Self::NotFound => (
                "There is no such page",
                "The address may be wrong, or what it led to has been deleted after its time. Search for an identifier above, or start from Today.".to_owned(),
            ),
            Self::Foreign => (
                "This form was not accepted",
                "It was not sent from a page of this console, or it was changed on the way. Nothing was done. Open the page again and repeat it there.".to_owned(),
            ),
            Self::SignIn(_) => ("Sign in", String::new()),
            Self::NoPermission(role) => (
                "Your role does not allow this",
                format!("It takes the role {role}. Nothing was done. Ask somebody who has that role, or an admin to change yours; the page Operators names them."),
            ),
            Self::Conflict(text) => ("Somebody was faster", text.clone()),
            Self::Refused(text) => ("This cannot be done", text.clone()),
            Self::TooMany(text) => ("Too many attempts", text.clone()),
            Self::TooSlow => (
                "This page took too long",
                "It was given up after 2 seconds, so that deliveries are not slowed down. Choose a narrower filter, such as one merchant or a shorter time, and try again.".to_owned(),
            ),
            Self::Unavailable(_) => (
                "The database cannot be reached",
                "Messages are kept and delivered once it is back. Try again in a few seconds.".to_owned(),
            ),
            Self::Internal(_) => (
                "Something went wrong here",
                "It has been logged, and nothing was done. Try again; if it stays, give the request id below to whoever runs this installation.".to_owned(),
            ),
        }
    }
}

impl IntoResponse for ConsoleError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Failed> for ConsoleError {
    fn from(failed: Failed) -> Self {
        if failed.timed_out() {
            return Self::TooSlow;
        }
        match ApiError::from(failed) {
            ApiError::Unavailable(why) => Self::Unavailable(why),
            error => Self::from(error),
        }
    }
}

impl From<ApiError> for ConsoleError {
    /// For what happens before a page is asked: limits, bodies, panics.
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::TooManyRequests { .. } => {
                Self::TooMany("This address has sent more requests than one address may in a minute. Try again in a minute.".to_owned())
            }
            ApiError::NotFound | ApiError::Absent(_) | ApiError::NoSuchRoute | ApiError::MethodNotAllowed => Self::NotFound,
            ApiError::Unavailable(why) => Self::Unavailable(why),
            ApiError::Internal(why) => Self::Internal(why),
            ApiError::TooLarge(limit) => Self::Refused(format!("What was sent has more than {} KiB. Nothing was changed.", limit / 1024)),
            _ => Self::Foreign,
        }
    }
}

impl From<askama::Error> for ConsoleError {
    fn from(error: askama::Error) -> Self {
        Self::Internal(format!("a page cannot be rendered: {error}"))
    }
}

impl From<InvalidHeaderValue> for ConsoleError {
    fn from(_: InvalidHeaderValue) -> Self {
        Self::Internal("a header cannot be written".to_owned())
    }
}

impl From<PathRejection> for ConsoleError {
    fn from(_: PathRejection) -> Self {
        Self::NotFound
    }
}

impl From<QueryRejection> for ConsoleError {
    fn from(_: QueryRejection) -> Self {
        Self::Refused("The filters in the address cannot be read. Take the part of the address after the question mark away, and set the filters again.".to_owned())
    }
}

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage {
    frame: Frame,
    words: String,
    request: Option<String>,
}

/// Renders the error of an answer, if it has one, and completes the headers of every page.
pub(super) fn render(app: &App, mut response: Response, id: &RequestId, route: &str) -> Response {
    let extensions = response.extensions_mut();
    let (person, view) = (extensions.remove::<Person>(), extensions.remove::<View>());
    let refused = extensions.remove::<ApiError>().map(ConsoleError::from);
    let error = extensions.remove::<ConsoleError>().or(refused);
    if let Some(error) = error {
        error.log(id, route);
        response = match (&error, view) {
            (ConsoleError::SignIn(wanted), _) => sign_in(wanted),
            (_, Some(view)) => page(app, &error, view, person.as_ref(), id),
            (_, None) => (error.status(), error.words().1).into_response(),
        };
    }
    headers::add(response.headers_mut());
    response
}

fn page(app: &App, error: &ConsoleError, view: View, person: Option<&Person>, id: &RequestId) -> Response {
    let (heading, words) = error.words();
    let request = matches!(error, ConsoleError::Unavailable(_) | ConsoleError::Internal(_)).then(|| id.0.clone());
    let frame = Frame::new(app, view, person.map(|person| &person.operator), None, heading);
    let html = ErrorPage { frame, words, request }.render().unwrap_or_default();
    (error.status(), Html(html)).into_response()
}

/// Leads to the sign-in, and from there back to the page that was asked for.
fn sign_in(wanted: &str) -> Response {
    let query = serde_urlencoded::to_string([("next", wanted)]).unwrap_or_default();
    let location = if wanted == "/" { "/sign-in".to_owned() } else { format!("/sign-in?{query}") };
    let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/sign-in"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}
