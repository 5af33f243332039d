//! Who asks for a page of the console, and what they may do: the type of a handler's first argument says which role its route needs.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::merchants::operator::{Operator, Role};
use store::merchants::operator_sessions::{self, Limits};
use uuid::Uuid;

use super::cookie;
use super::error::ConsoleError;
use super::frame::{Frame, Section};
use super::person::Person;
use super::view::View;
use crate::app::App;
use crate::http::pages::origin;
use crate::node::security::{Event, Needs, Who};

/// The role that a route needs, as a type. A higher role may do all that a lower one may.
pub(super) trait Permission: Send + Sync + 'static {
    const ROLE: Role;
}

/// Reads, without shoppers' data.
pub(super) struct Viewer;

impl Permission for Viewer {
    const ROLE: Role = Role::Viewer;
}

/// Works on returns, messages and failures.
pub(super) struct Support;

impl Permission for Support {
    const ROLE: Role = Role::Support;
}

/// Sets merchants up.
pub(super) struct Manager;

impl Permission for Manager {
    const ROLE: Role = Role::Manager;
}

/// Decides on people and on what cannot be undone.
pub(super) struct Admin;

impl Permission for Admin {
    const ROLE: Role = Role::Admin;
}

/// A person whose role suffices for `P`, and how they want to see the page.
pub(super) struct By<P> {
    pub(super) app: App,
    pub(super) operator: Operator,
    /// The session that asks.
    pub(super) session: Uuid,
    view: View,
    permission: PhantomData<P>,
}

impl<P: Permission> By<P> {
    /// The name of this person in audit rows.
    pub(super) fn actor(&self) -> String {
        self.operator.actor()
    }

    /// The person has at least this role.
    pub(super) fn may(&self, role: Role) -> bool {
        self.operator.role >= role
    }

    /// The frame of a page of `section`.
    pub(super) fn frame(&self, section: Section, heading: &str) -> Frame {
        Frame::new(&self.app, self.view.clone(), Some(&self.operator), Some(section), heading)
    }
}

impl<P> Deref for By<P> {
    type Target = View;

    /// The times and paths of a page are the view's.
    fn deref(&self) -> &View {
        &self.view
    }
}

impl<P: Permission> FromRequestParts<App> for By<P> {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ConsoleError> {
        let person = parts.extensions.get::<Person>().cloned();
        let view = parts.extensions.get::<View>().cloned().ok_or_else(|| ConsoleError::Internal("a page without a view".to_owned()))?;
        let Some(Person { operator, session }) = person else { return Err(ConsoleError::SignIn(view.here().to_owned())) };
        if operator.role < P::ROLE {
            Event::PermissionDenied { who: Who::Operator(operator.id), needs: Needs::Role(P::ROLE) }.log();
            return Err(ConsoleError::NoPermission(P::ROLE));
        }
        Ok(Self { app: app.clone(), operator, session, view, permission: PhantomData })
    }
}

/// Finds the person who asks, and refuses forms of other sites. Errors are rendered for that person.
pub(super) async fn enter(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let view = View::of(&app, &request);
    let mut person = None;
    let response = if request.method().is_safe() || origin::is_own(request.headers()) {
        match find(&app, request.headers()).await {
            Ok(found) => {
                person.clone_from(&found);
                if let Some(found) = found {
                    request.extensions_mut().insert(found);
                }
                request.extensions_mut().insert(view.clone());
                next.run(request).await
            }
            Err(error) => error.into_response(),
        }
    } else {
        Event::ForeignForm.log();
        ConsoleError::Foreign.into_response()
    };
    let mut response = response;
    if let Some(person) = person {
        response.extensions_mut().insert(person);
    }
    response.extensions_mut().insert(view);
    response
}

async fn find(app: &App, headers: &HeaderMap) -> Result<Option<Person>, ConsoleError> {
    let Some(hash) = cookie::session_hash(headers) else { return Ok(None) };
    let (idle, longest) = app.settings.console.session_limits();
    let session = operator_sessions::find(app.home(), &hash, Limits { idle, longest }, app.now()).await?;
    Ok(session.map(|session| Person { operator: session.operator, session: session.id }))
}
