//! `GET /merchants/{handle}/policy/change`: the form of the return policy. Sent, it is tried on an order or previewed, and from the preview
//! it is saved. `…/{version}/restore` previews rolling back to an earlier policy.

use askama::Template;
use axum::response::Response;
use domain::returns::rma::policy::{Policy, TagRule};
use store::merchants::accounts::Merchant;
use store::returns::return_policies::{self, Version};

use super::by::{By, Manager};
use super::difference::ChangePreview;
use super::error::ConsoleError;
use super::form::{Filled, Form, Path, Typed};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::page::render;
use super::policy::version;
use super::policy_form::{MethodFields, methods, present, read};
use super::policy_told::{command, differences};
use super::policy_trial::{self, Trial};
use super::question::SURE;
use crate::flow::returns::set_policy::{PolicyChange, SetPolicyError, set_seen_policy};
use crate::http::pages::see;

/// The field with the version that the form was filled from.
const SEEN: &str = "seen";
/// The field of the button that tries the policy on an order, and the field with the order.
const TRY: &str = "try";
const ORDER: &str = "order";

#[derive(Template)]
#[template(path = "console/policy_change.html")]
struct FormPage {
    frame: Frame,
    head: Head,
    fields: Filled,
    methods: Vec<MethodFields>,
    rules: String,
    faults: Vec<String>,
    trial: Option<Trial>,
}

fn form(by: &By<Manager>, merchant: &Merchant, typed: Typed, faults: Vec<String>, trial: Option<Trial>) -> Result<Response, ConsoleError> {
    let fields = Filled(typed);
    render(&FormPage {
        frame: by.frame(Section::Merchants, &format!("{}: change the policy", merchant.name)),
        head: Head::new(merchant, Tab::Policy, by),
        methods: methods(&fields),
        fields,
        rules: TagRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>().join(", "),
        faults,
        trial,
    })
}

/// A policy as it is typed into the form while `in_force` is in force.
fn filled(policy: &Policy, in_force: &Version) -> Typed {
    let mut typed = present(policy);
    typed.insert(SEEN.to_owned(), in_force.number.to_string());
    typed
}

pub(super) async fn ask(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let in_force = return_policies::current_version(by.app.store(merchant.id), merchant.id).await?;
    form(&by, &merchant, filled(&in_force.policy, &in_force), Vec::new(), None)
}

/// Tries the policy on an order, shows what it changes, or saves it, by the button that was pressed.
pub(super) async fn change(by: By<Manager>, Path(handle): Path<String>, Form(typed): Form<Typed>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let policy = match read(&typed) {
        Ok(policy) => policy,
        Err(faults) => return unprocessable(form(&by, &merchant, typed, faults, None)),
    };
    let in_force = return_policies::current_version(by.app.store(merchant.id), merchant.id).await?;
    let seen = typed.get(SEEN).and_then(|seen| seen.parse().ok()).ok_or(ConsoleError::Foreign)?;
    if typed.contains_key(TRY) {
        let order = typed.get(ORDER).map_or("", |order| order.trim());
        let trial = policy_trial::run(&by, &merchant, order, &in_force.policy, Some(&policy)).await?;
        return form(&by, &merchant, typed, Vec::new(), Some(trial));
    }
    if in_force.number != seen {
        return Err(outdated(&merchant));
    }
    let change = PolicyChange::between(&in_force.policy, &policy);
    if change == PolicyChange::default() {
        return unprocessable(form(&by, &merchant, typed, vec!["Nothing differs from the policy in force.".to_owned()], None));
    }
    if !typed.contains_key(SURE) {
        let asks = format!("Change the return policy of {}?", merchant.name);
        return preview(&by, &merchant, &in_force, &policy, asks, "Change the policy");
    }
    match set_seen_policy(&by.app, &by.actor(), merchant.id, seen, change).await {
        Ok(_) => Ok(see(&format!("/merchants/{handle}/policy"))),
        Err(SetPolicyError::Outdated) => Err(outdated(&merchant)),
        Err(SetPolicyError::Failed(failed)) => Err(failed.into()),
        Err(error @ (SetPolicyError::Nothing | SetPolicyError::NoSuchTag(_) | SetPolicyError::Flawed(_))) => {
            Err(ConsoleError::Refused(error.to_string()))
        }
    }
}

fn outdated(merchant: &Merchant) -> ConsoleError {
    ConsoleError::Conflict(format!(
        "The policy of {} was changed while you had it open, so yours was not saved. Its page shows who changed what; change it again from there.",
        merchant.name
    ))
}

/// Shows what rolling back to an earlier policy changes.
pub(super) async fn restore(by: By<Manager>, Path((handle, number)): Path<(String, i32)>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let (version, in_force) = version(&by, &merchant, number).await?;
    if version.policy == in_force.policy {
        return Err(ConsoleError::Refused(format!("Policy {number} says the same as the one in force. There is nothing to roll back.")));
    }
    let asks = format!("Roll the return policy of {} back to policy {number}?", merchant.name);
    preview(&by, &merchant, &in_force, &version.policy, asks, &format!("Roll back to policy {number}"))
}

fn preview(
    by: &By<Manager>,
    merchant: &Merchant,
    in_force: &Version,
    policy: &Policy,
    asks: String,
    does: &str,
) -> Result<Response, ConsoleError> {
    let mut hidden = filled(policy, in_force);
    hidden.insert(SURE.to_owned(), "yes".to_owned());
    let handle = &merchant.handle;
    ChangePreview {
        frame: by.frame(Section::Merchants, &asks),
        head: Head::new(merchant, Tab::Policy, by),
        asks,
        differences: differences(&in_force.policy, policy),
        facts: &[
            ("Counts", "from the next return on; returns under way keep what they were started with"),
            ("Except", "which refunds settle a return, and whether refusals of exchange orders are final: these count from the next refund and the next answer on"),
            ("Undone by", "rolling back to the policy in force now; it stays in the history"),
        ],
        action: format!("/merchants/{handle}/policy/change"),
        hidden,
        does: does.to_owned(),
        back: format!("/merchants/{handle}/policy"),
        command: command(handle, &PolicyChange::between(&in_force.policy, policy)),
    }
    .show()
}
