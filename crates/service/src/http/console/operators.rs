//! `/operators`: the people who work with the console, their roles, and inviting somebody.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::merchants::operator::{Email, Operator, OperatorId, Role, person_name};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use store::merchants::operator_tokens;
use store::merchants::operators::{self, Listed};
use uuid::Uuid;

use super::account::means;
use super::by::{Admin, By, Viewer};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::stamp::Stamp;
use super::tokens;
use crate::app::App;
use crate::flow::merchants::operators::people::{self, Authority, PeopleError};
use crate::flow::merchants::operators::requests::{self, Asked, RequestError};
use crate::flow::merchants::operators::sign_in::session_limits;
use crate::flow::merchants::operators::tokens as token_flow;

#[derive(Template)]
#[template(path = "console/operators.html")]
struct ListPage {
    frame: Frame,
    people: usize,
    admins: usize,
    rows: Vec<Row>,
    abilities: &'static [Ability],
}

/// A person, as the list shows them.
struct Row {
    id: OperatorId,
    name: String,
    email: String,
    role: Role,
    is_you: bool,
    is_disabled: bool,
    means: &'static str,
    seen: Option<Stamp>,
    sessions: i64,
    invited_until: Option<Stamp>,
}

/// An ability, and what each role has of it, the least first.
type Ability = (&'static str, [&'static str; 4]);

const YES: &str = "Yes";
const NO: &str = "—";
const WITH: &str = "With a second person";
const FEW: &str = "Up to 100";
const ABILITIES: [Ability; 11] = [
    ("See lists, messages, reports", [YES, YES, YES, YES]),
    ("See personal data of shoppers", [NO, YES, YES, YES]),
    ("Owner, note, contacted", [NO, YES, YES, YES]),
    ("Send a test, retry, replay, send a mail again", [NO, YES, YES, YES]),
    ("Cancel a return, match a withdrawal, act for a shopper", [NO, YES, YES, YES]),
    ("Discard failures", [NO, FEW, FEW, FEW]),
    ("Discard more than 100", [NO, NO, NO, WITH]),
    ("Merchants, credentials, endpoints, secrets", [NO, NO, YES, YES]),
    ("Policy, branding, carriers, limits, go live", [NO, NO, YES, YES]),
    ("Operators", [NO, NO, NO, YES]),
    ("Erase a shopper, make an admin", [NO, NO, NO, WITH]),
];

#[derive(Template)]
#[template(path = "console/operator_invite.html")]
struct InvitePage {
    frame: Frame,
    email: String,
    name: String,
    role: Role,
    roles: &'static [Role],
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "console/operator_link.html")]
struct LinkPage {
    frame: Frame,
    name: String,
    email: String,
    link: String,
    command: String,
}

#[derive(Template)]
#[template(path = "console/operator.html")]
struct PersonPage {
    frame: Frame,
    row: Row,
    tokens: Vec<tokens::Row>,
    roles: &'static [Role],
    other_admins: usize,
    /// The commands that make them an administrator, and reset them.
    promoting: String,
    resetting: String,
}

/// The roles that one administrator can give.
const GIVEN_ALONE: [Role; 3] = [Role::Viewer, Role::Support, Role::Manager];

#[derive(Deserialize)]
pub(super) struct Invitation {
    email: String,
    name: String,
    role: String,
}

#[derive(Deserialize)]
pub(super) struct NewRole {
    role: String,
    #[serde(default)]
    why: String,
}

async fn listed(app: &App, now: chrono::DateTime<chrono::Utc>) -> Result<Vec<Listed>, ConsoleError> {
    let limits = session_limits(app);
    Ok(operators::list(app.home(), limits.idle, limits.longest, now).await?)
}

fn row<P: super::by::Permission>(by: &By<P>, listed: Listed) -> Row {
    let Operator { id, email, name, role } = listed.operator;
    let password = match (listed.has_password, listed.has_totp) {
        (true, true) => "password + code",
        (true, false) => "password, no code yet",
        (false, _) => "nothing yet",
    };
    Row {
        is_you: id == by.operator.id,
        id,
        name,
        email,
        role,
        is_disabled: listed.disabled_at.is_some(),
        means: listed.means.as_deref().map_or(password, means),
        seen: listed.seen_at.map(|at| by.time(at)),
        sessions: listed.sessions,
        invited_until: listed.invited_until.map(|at| by.time(at)),
    }
}

pub(super) async fn list(by: By<Viewer>) -> Result<Response, ConsoleError> {
    let listed = listed(&by.app, by.now).await?;
    let enabled = || listed.iter().filter(|listed| listed.disabled_at.is_none());
    let (people, admins) = (enabled().count(), enabled().filter(|listed| listed.operator.role == Role::Admin).count());
    let rows = listed.into_iter().map(|listed| row(&by, listed)).collect();
    render(&ListPage { frame: by.frame(Section::Operators, "Operators"), people, admins, rows, abilities: &ABILITIES })
}

pub(super) async fn invite(by: By<Admin>) -> Result<Response, ConsoleError> {
    invite_page(&by, String::new(), String::new(), Role::Support, None)
}

fn invite_page(by: &By<Admin>, email: String, name: String, role: Role, fault: Option<String>) -> Result<Response, ConsoleError> {
    let frame = by.frame(Section::Operators, "Invite somebody");
    render(&InvitePage { frame, email, name, role, roles: &GIVEN_ALONE, fault })
}

pub(super) async fn add(by: By<Admin>, Form(form): Form<Invitation>) -> Result<Response, ConsoleError> {
    let role: Role = form.role.parse().map_err(|_| ConsoleError::Foreign)?;
    let fault = match (form.email.parse::<Email>(), person_name(&form.name)) {
        (Err(_), _) => "This is no e-mail address. Write it as in name@example.com.".to_owned(),
        (_, None) => "Say their name, in up to 100 characters.".to_owned(),
        (Ok(email), Some(name)) => match people::add(&by.app, &by.actor(), Authority::Admin, &email, &name, role).await {
            Ok((operator, link)) => return link_page(&by, operator, &link, "add"),
            Err(PeopleError::EmailTaken(email)) => format!("{email} is an operator already; the list shows them."),
            Err(error) => return Err(told(error)),
        },
    };
    let page = invite_page(&by, form.email, form.name, role, Some(fault))?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

/// The page that shows a one-time link, once.
fn link_page(by: &By<Admin>, operator: Operator, link: &SecretString, verb: &str) -> Result<Response, ConsoleError> {
    let command = match verb {
        "add" => format!("backhaul operator add {} --name \"{}\" --role {}", operator.email, operator.name, operator.role),
        _ => format!("backhaul operator {verb} {}", operator.email),
    };
    let frame = by.frame(Section::Operators, "The link is shown once");
    render(&LinkPage { frame, name: operator.name, email: operator.email, link: link.expose_secret().to_owned(), command })
}

pub(super) async fn show(by: By<Admin>, Path(id): Path<Uuid>) -> Result<Response, ConsoleError> {
    person_page(&by, id, None).await
}

async fn person_page(by: &By<Admin>, id: Uuid, notice: Option<Notice>) -> Result<Response, ConsoleError> {
    let listed = listed(&by.app, by.now).await?;
    let is_admin = |listed: &&Listed| listed.disabled_at.is_none() && listed.operator.role == Role::Admin;
    let other_admins = listed.iter().filter(is_admin).filter(|listed| listed.operator.id != by.operator.id).count();
    let person = listed.into_iter().find(|listed| listed.operator.id.0 == id).ok_or(ConsoleError::NotFound)?;
    let frame = by.frame(Section::Operators, &person.operator.name).with(notice);
    let (promoting, resetting) = (
        format!("backhaul operator set {} --role admin", person.operator.email),
        format!("backhaul operator reset {}", person.operator.email),
    );
    let tokens = operator_tokens::list(by.app.home(), person.operator.id, by.now).await?;
    let tokens = tokens.into_iter().map(|token| tokens::Row::new(by, token)).collect();
    render(&PersonPage { frame, row: row(by, person), tokens, roles: &GIVEN_ALONE, other_admins, promoting, resetting })
}

fn see(id: Uuid) -> Response {
    Redirect::to(&format!("/operators/{id}")).into_response()
}

pub(super) async fn set_role(by: By<Admin>, Path(id): Path<Uuid>, Form(form): Form<NewRole>) -> Result<Response, ConsoleError> {
    let role: Role = form.role.parse().map_err(|_| ConsoleError::Foreign)?;
    if role != Role::Admin {
        people::change_role(&by.app, &by.actor(), Authority::Admin, OperatorId(id), role).await.map_err(told)?;
        return Ok(see(id));
    }
    operators::get(by.app.home(), OperatorId(id)).await?.ok_or(ConsoleError::NotFound)?;
    match requests::ask(&by.app, &by.operator, &by.actor(), &Asked::MakeAdmin(OperatorId(id)), &form.why).await {
        Ok(request) => Ok(Redirect::to(&format!("/requests/{request}")).into_response()),
        Err(RequestError::Failed(failed)) => Err(failed.into()),
        Err(error) => {
            let page = person_page(&by, id, Some(Notice::bad("Nothing was asked for.", &error.to_string()))).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn disable(by: By<Admin>, Path(id): Path<Uuid>) -> Result<Response, ConsoleError> {
    people::disable(&by.app, &by.actor(), OperatorId(id)).await.map_err(told)?;
    Ok(see(id))
}

pub(super) async fn enable(by: By<Admin>, Path(id): Path<Uuid>) -> Result<Response, ConsoleError> {
    people::enable(&by.app, &by.actor(), Authority::Admin, OperatorId(id)).await.map_err(told)?;
    Ok(see(id))
}

pub(super) async fn reset(by: By<Admin>, Path(id): Path<Uuid>) -> Result<Response, ConsoleError> {
    let (operator, link) = people::reset(&by.app, &by.actor(), Authority::Admin, OperatorId(id)).await.map_err(told)?;
    link_page(&by, operator, &link, "reset")
}

pub(super) async fn revoke_token(by: By<Admin>, Path(id): Path<Uuid>, Form(which): Form<tokens::Which>) -> Result<Response, ConsoleError> {
    token_flow::revoke(&by.app, &by.actor(), OperatorId(id), which.id).await?;
    Ok(see(id))
}

fn told(error: PeopleError) -> ConsoleError {
    match error {
        PeopleError::NoSuchOperator => ConsoleError::NotFound,
        PeopleError::Failed(failed) => failed.into(),
        PeopleError::EmailTaken(email) => ConsoleError::Refused(format!("{email} is an operator already.")),
        PeopleError::Disabled(email) => ConsoleError::Refused(format!("{email} is disabled. Enable them first.")),
        PeopleError::LastAdmin(email) => {
            ConsoleError::Refused(format!("{email} is the only administrator. Make somebody else an administrator first."))
        }
        PeopleError::NeedsSecondPerson => ConsoleError::Refused(
            "Administrators are made by two people. Enable them with a lower role, then ask another administrator to make them one."
                .to_owned(),
        ),
        PeopleError::AdminReset(email) => ConsoleError::Refused(format!(
            "Whoever has the link could act as {email}, an administrator. Reset it on the command line: backhaul operator reset {email}"
        )),
    }
}
