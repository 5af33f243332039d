//! `GET /failures`: the failure queue over all merchants, in groups by merchant, endpoint and reason.

use askama::Template;
use axum::response::Response;
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Internal};
use serde::Deserialize;
use store::messages::backlog;
use store::messages::failure_groups::{self, Filter, Group, GroupKey, Owner};
use store::{Failed, Store};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::Count;
use super::error::ConsoleError;
use super::failure_choice::{group_at, merchant_of};
use super::figures::{counted, tint};
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::late::MOST_OF_DELIVERERS;
use super::page::render;
use super::stamp::Stamp;
use crate::node::each_cell;
use crate::show::messages::queue;

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    interface: String,
    /// `me`, `nobody`, or a name.
    owner: String,
    /// `yes` for internal work.
    internal: String,
    after_merchant: Option<Uuid>,
    after_endpoint: Option<Uuid>,
    after_reason: String,
    /// The number of messages that were just discarded.
    discarded: Option<i64>,
}

struct Row {
    group: String,
    merchant: String,
    interface: String,
    removed: bool,
    reason: String,
    tint: &'static str,
    count: String,
    oldest: Stamp,
    newest: Stamp,
    state: (&'static str, &'static str),
    owner: String,
}

#[derive(Template)]
#[template(path = "console/failures.html")]
struct Page {
    frame: Frame,
    filters: Filters,
    interfaces: Vec<&'static str>,
    me: String,
    rows: Vec<Row>,
    total: String,
    endpoints: usize,
    is_filtered: bool,
    internal: bool,
    /// The address of the next page.
    next: Option<String>,
    is_first: bool,
    command: String,
}

/// The messages in the failure queue, as the deliverers have counted them. If they know of none, the queue is looked at itself: they
/// may not have counted yet, or none of them is alive.
pub(super) async fn count(by: &By<Viewer>) -> Result<Count, ConsoleError> {
    let counts = each_cell::each(&by.app, count_in).await?;
    Ok(counts.into_iter().reduce(Count::and).unwrap_or(Count::of(0)))
}

/// [`count`] of one cell.
pub(super) async fn count_in(store: &Store) -> Result<Count, Failed> {
    let count = match backlog::figures(store).await?.open_failures {
        0 => failure_groups::count(store).await?,
        counted => counted,
    };
    Ok(Count { count, bound: MOST_OF_DELIVERERS })
}

fn sum(groups: &[Group]) -> i64 {
    groups.iter().map(|group| group.count).sum()
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let internal = filters.internal == "yes";
    let mut notice = None;
    let merchant = match filters.merchant.trim() {
        "" => None,
        handle => match merchant_of(&by, handle).await {
            Ok(merchant) => Some(merchant),
            Err(ConsoleError::NotFound) => {
                notice = Some(Notice::warn("There is no merchant with this handle.", "Every merchant is shown."));
                None
            }
            Err(error) => return Err(error),
        },
    };
    if let Some(discarded) = filters.discarded {
        let bold = if discarded == 1 { "1 message was discarded.".to_owned() } else { format!("{discarded} messages were discarded.") };
        notice = Some(Notice::ok(&bold, "They are not delivered. The audit log says who did it."));
    }
    let owner = match filters.owner.trim() {
        "" => None,
        "nobody" => Some(Owner::Nobody),
        "me" => Some(Owner::Person(by.operator.name.clone())),
        name => Some(Owner::Person(name.to_owned())),
    };
    let interface = Some(filters.interface.trim()).filter(|interface| !interface.is_empty()).map(str::to_owned);
    let after = filters.after_merchant.zip(filters.after_endpoint).map(|(merchant, endpoint)| GroupKey {
        merchant: MerchantId(merchant),
        endpoint: EndpointId(endpoint),
        reason: filters.after_reason.clone(),
    });
    let wanted = Filter { merchant: merchant.as_ref().map(|merchant| merchant.id), interface, owner, internal };
    let page = queue::groups(&by.app, &wanted, after.as_ref()).await?;
    let mut groups = page.groups;
    groups.sort_by_key(|group| group.oldest);
    let mut at: Vec<Uuid> = groups.iter().map(|group| group.key.endpoint.0).collect();
    at.sort_unstable();
    at.dedup();
    let is_filtered = merchant.is_some() || !filters.interface.is_empty() || !filters.owner.is_empty();
    let all = match (after.is_none() && page.next.is_none(), is_filtered || internal) {
        (true, _) => Some(Count { count: sum(&groups), bound: MOST_OF_DELIVERERS }),
        (false, false) => Some(count(&by).await?),
        (false, true) => None,
    };
    let name = if internal { "Our own work that failed" } else { "Failure queue" };
    let heading = all.filter(|all| !all.is_none()).map_or_else(|| name.to_owned(), |all| format!("{name}: {all}"));
    let frame = by.frame(Section::Failures, &heading).with(notice);
    let command = merchant.as_ref().map_or("--all-merchants".to_owned(), |merchant| format!("--merchant {}", merchant.handle));
    let command = format!("backhaul failures list {command}{}", if internal { " --internal" } else { "" });
    render(&Page {
        total: counted(sum(&groups)),
        endpoints: at.len(),
        rows: groups.into_iter().map(|group| row(&by, group)).collect(),
        interfaces: interfaces(internal),
        me: by.operator.name.clone(),
        is_filtered: !filters.merchant.is_empty() || !filters.interface.is_empty() || !filters.owner.is_empty(),
        internal,
        next: page.next.map(|next| next_at(&filters, &next)),
        is_first: after.is_none(),
        filters,
        frame,
        command,
    })
}

fn interfaces(internal: bool) -> Vec<&'static str> {
    if internal {
        return Internal::ALL.into_iter().map(Internal::as_str).collect();
    }
    Interface::ALL.into_iter().filter(|interface| !interface.is_asked()).map(Interface::as_str).collect()
}

fn row(by: &By<Viewer>, group: Group) -> Row {
    let state = match (group.contacted, group.count - group.contacted) {
        (0, _) => ("warn", "Open"),
        (_, 0) => ("run", "Contacted"),
        _ => ("warn", "Partly contacted"),
    };
    let owner = match (group.owners.as_slice(), group.unowned) {
        ([], _) => "nobody".to_owned(),
        (owners, 0) => owners.join(", "),
        (owners, unowned) => format!("{}; {} without", owners.join(", "), counted(unowned)),
    };
    Row {
        group: group_at(&group.handle, group.key.endpoint, &group.key.reason),
        tint: tint(&group.key.reason),
        reason: group.key.reason,
        count: counted(group.count),
        oldest: by.time(group.oldest),
        newest: by.time(group.newest),
        merchant: group.merchant,
        interface: group.interface,
        removed: group.removed,
        state,
        owner,
    }
}

fn next_at(filters: &Filters, next: &GroupKey) -> String {
    let (merchant, endpoint) = (next.merchant.0.to_string(), next.endpoint.0.to_string());
    let fields = [
        ("merchant", filters.merchant.as_str()),
        ("interface", &filters.interface),
        ("owner", &filters.owner),
        ("internal", &filters.internal),
        ("after_merchant", &merchant),
        ("after_endpoint", &endpoint),
        ("after_reason", &next.reason),
    ];
    let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    format!("/failures?{}", serde_urlencoded::to_string(set).unwrap_or_default())
}
