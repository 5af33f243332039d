//! `GET /merchants/{handle}/policy`: the return policy in force and those before it. `…/{version}` shows one of these.

use askama::Template;
use axum::response::Response;
use domain::merchants::operator::Role;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::returns::return_policies::{self, Version};

use super::by::{By, Permission, Viewer};
use super::difference::{Difference, Setting};
use super::error::ConsoleError;
use super::form::{Path, Query};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find};
use super::page::render;
use super::policy_told::{differences, settings};
use super::policy_trial::{self, Trial};
use super::stamp::Stamp;

/// Former policies on a page.
const MOST: usize = 20;

/// A policy in the history.
struct Row {
    version: i32,
    since: Option<Stamp>,
    actor: Option<String>,
    /// From the policy before it; `None` if that is not kept any more.
    differences: Option<Vec<Difference>>,
}

#[derive(Template)]
#[template(path = "console/policy.html")]
struct Page {
    frame: Frame,
    head: Head,
    version: i32,
    since: Option<(Stamp, String)>,
    settings: Vec<Setting>,
    rows: Vec<Row>,
    /// The version before which the next page begins.
    older: Option<i32>,
    order: String,
    trial: Option<Trial>,
}

#[derive(Deserialize)]
pub(super) struct Filter {
    /// The order to try the policy on.
    order: Option<String>,
    before: Option<i32>,
}

/// The name of whoever put a policy in force.
fn actor(version: &Version) -> String {
    version.changed_by.clone().unwrap_or_else(|| "somebody, before this was recorded".to_owned())
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>, Query(filter): Query<Filter>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let in_force = return_policies::current_version(by.app.store(merchant.id), merchant.id).await?;
    let order = filter.order.map(|order| order.trim().to_owned()).filter(|order| !order.is_empty());
    let trial = match &order {
        Some(order) => Some(policy_trial::run(&by, &merchant, order, &in_force.policy, None).await?),
        None => None,
    };
    let (rows, next) = history(&by, &merchant, &in_force, filter.before).await?;
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: policy", merchant.name)),
        head: Head::new(&merchant, Tab::Policy, &by),
        version: in_force.number,
        since: in_force.changed_at.map(|at| (by.time(at), actor(&in_force))),
        settings: settings(&in_force.policy),
        rows,
        older: next,
        order: order.unwrap_or_default(),
        trial,
    })
}

/// The policies from the one in force, or from `before`, back to the default, each with its difference from the one before it.
async fn history(
    by: &By<Viewer>,
    merchant: &Merchant,
    in_force: &Version,
    before: Option<i32>,
) -> Result<(Vec<Row>, Option<i32>), ConsoleError> {
    let before = before.filter(|before| *before < in_force.number);
    // One more than is shown: each is compared with the one before it.
    let most = i64::try_from(MOST).unwrap_or(i64::MAX) + 1;
    let former = return_policies::list_former(by.app.store(merchant.id), merchant.id, before.unwrap_or(in_force.number), most).await?;
    let mut versions: Vec<Version> = if before.is_none() { vec![in_force.clone()] } else { Vec::new() };
    versions.extend(former);
    if versions.last().is_some_and(|oldest| oldest.number == 1) {
        versions.push(Version::default());
    }
    let rows = versions.iter().take(MOST).enumerate().map(|(at, version)| {
        let predecessor = versions.get(at + 1).filter(|earlier| earlier.number + 1 == version.number);
        Row {
            version: version.number,
            since: version.changed_at.map(|at| by.time(at)),
            actor: version.changed_at.map(|_| actor(version)),
            differences: predecessor.map(|earlier| differences(&earlier.policy, &version.policy)),
        }
    });
    let rows: Vec<Row> = rows.collect();
    let older = rows.last().map(|row| row.version).filter(|_| versions.len() > MOST);
    Ok((rows, older))
}

#[derive(Template)]
#[template(path = "console/policy_version.html")]
struct VersionPage {
    frame: Frame,
    head: Head,
    version: i32,
    since: Option<(Stamp, String)>,
    settings: Vec<Setting>,
    /// What rolling back to it would change.
    differences: Vec<Difference>,
    may_manage: bool,
}

/// A policy of the merchant by its number, and the one in force.
pub(super) async fn version<P: Permission>(by: &By<P>, merchant: &Merchant, number: i32) -> Result<(Version, Version), ConsoleError> {
    let store = by.app.store(merchant.id);
    let in_force = return_policies::current_version(store, merchant.id).await?;
    let found = match number {
        _ if number == in_force.number => Some(in_force.clone()),
        0 => Some(Version::default()),
        _ => {
            let after = number.checked_add(1).ok_or(ConsoleError::NotFound)?;
            return_policies::list_former(store, merchant.id, after, 1).await?.into_iter().find(|found| found.number == number)
        }
    };
    Ok((found.ok_or(ConsoleError::NotFound)?, in_force))
}

pub(super) async fn show_version(by: By<Viewer>, Path((handle, number)): Path<(String, i32)>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let (version, in_force) = version(&by, &merchant, number).await?;
    render(&VersionPage {
        frame: by.frame(Section::Merchants, &format!("{}: policy {number}", merchant.name)),
        head: Head::new(&merchant, Tab::Policy, &by),
        version: number,
        since: version.changed_at.map(|at| (by.time(at), actor(&version))),
        settings: settings(&version.policy),
        differences: differences(&in_force.policy, &version.policy),
        may_manage: by.may(Role::Manager),
    })
}
