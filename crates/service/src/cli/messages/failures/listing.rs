//! `backhaul failures list`: the failure queue of one merchant, or of all.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use clap::Args;
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::failure_groups::{self, Filter, GroupKey};
use store::messages::failures::{self, Group, MOST_COUNTED, Of};
use store::messages::unsent::{self, Unsent};
use uuid::Uuid;
use wire::page::{read_moment, write_moment};
use wire::time;

use super::entry::EntryOut;
use crate::app::App;
use crate::cli::context::OfMerchants;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::show::messages::queue;

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchants: OfMerchants,
    /// List the messages of this interface one by one, also those of endpoints that were removed, instead of groups by endpoint and
    /// reason. `mail` and `operator_hook` are internal work. Of all merchants, list the groups of this interface.
    #[arg(long)]
    interface: Option<Kind>,
    /// List failed internal work instead, which is not sent to the merchant's systems: mails, operator webhooks and the like.
    #[arg(long, conflicts_with = "interface")]
    internal: bool,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) async fn run(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let merchant = match &options.merchants {
        OfMerchants::All => return list_all(app, options, format).await,
        OfMerchants::One(merchant) => merchant.find(app).await?,
    };
    if let Some(kind) = options.interface {
        return list(app, merchant.id, kind, options, format).await;
    }
    // Groups of a merchant are listed whole, so no page of them has a next one.
    options.page.after(|_| None::<Uuid>)?;
    let of = if options.internal { Of::Internal } else { Of::Merchant };
    show_groups(&merchant, &failures::groups(app.store(merchant.id), merchant.id, of, None).await?, format)?;
    if of == Of::Merchant {
        let unsent = unsent::list(app.store(merchant.id), merchant.id).await?;
        unsent.iter().for_each(|unsent| output::note(&unsent_note(&merchant.handle, unsent)));
    }
    Ok(())
}

/// Open entries of an endpoint that failed for the same reason. One merchant and all of them have this one shape.
#[derive(Serialize)]
struct GroupOut {
    /// The merchant's handle.
    merchant: String,
    interface: String,
    endpoint: &'static str,
    reason: String,
    count: i64,
    oldest: String,
    newest: String,
}

/// The columns of a merchant's groups.
const GROUP_HEADERS: [&str; 6] = ["INTERFACE", "ENDPOINT", "REASON", "COUNT", "OLDEST", "NEWEST"];
/// The columns of the groups of several merchants.
const GROUP_HEADERS_OF_ALL: [&str; 7] = ["MERCHANT", "INTERFACE", "ENDPOINT", "REASON", "COUNT", "OLDEST", "NEWEST"];

const fn endpoint_word(removed: bool) -> &'static str {
    if removed { "removed" } else { "current" }
}

impl GroupOut {
    fn all(merchant: &Merchant, groups: &[Group]) -> Vec<Self> {
        let shown = |group: &Group| Self {
            merchant: merchant.handle.clone(),
            interface: group.interface.clone(),
            endpoint: endpoint_word(group.removed),
            reason: group.reason.clone(),
            count: group.count,
            oldest: time::write(group.oldest),
            newest: time::write(group.newest),
        };
        groups.iter().map(shown).collect()
    }

    fn cells(&self) -> Vec<String> {
        let Self { interface, endpoint, reason, count: counted, oldest, newest, .. } = self;
        vec![interface.clone(), (*endpoint).to_owned(), reason.clone(), count(*counted), oldest.clone(), newest.clone()]
    }

    fn cells_of_all(&self) -> Vec<String> {
        [vec![self.merchant.clone()], self.cells()].concat()
    }
}

impl From<failure_groups::Group> for GroupOut {
    fn from(group: failure_groups::Group) -> Self {
        Self {
            merchant: group.handle,
            interface: group.interface,
            endpoint: endpoint_word(group.removed),
            reason: group.key.reason,
            count: group.count,
            oldest: time::write(group.oldest),
            newest: time::write(group.newest),
        }
    }
}

pub(super) fn show_groups(merchant: &Merchant, groups: &[Group], format: Format) -> anyhow::Result<()> {
    output::list(format, &GroupOut::all(merchant, groups), "The failure queue is empty.", &GROUP_HEADERS, GroupOut::cells)
}

/// The groups for whoever is asked to confirm.
pub(super) fn groups_table(merchant: &Merchant, groups: &[Group]) -> String {
    output::table(&GroupOut::all(merchant, groups), &GROUP_HEADERS, GroupOut::cells)
}

/// The pages of groups that a list of all reads before it stops, however few fit.
const MOST_PAGES: usize = 100;

/// Lists the groups of all merchants, the largest first.
async fn list_all(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let filter = Filter {
        interface: options.interface.map(|kind| kind.as_str().to_owned()),
        internal: options.internal || matches!(options.interface, Some(Kind::Internal(_))),
        ..Filter::default()
    };
    let mut after = options.page.after(read_key)?;
    let (mut groups, most) = (Vec::new(), options.page.limit());
    for _page in 0..MOST_PAGES {
        let page = queue::groups(app, &filter, after.as_ref()).await?;
        groups.extend(page.groups);
        after = page.next;
        if groups.len() > most {
            groups.truncate(most);
            after = groups.last().map(|group| group.key.clone());
        }
        if after.is_none() || groups.len() >= most {
            break;
        }
    }
    let mut rows: Vec<GroupOut> = groups.into_iter().map(GroupOut::from).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let next = after.as_ref().map(write_key);
    output::page(format, &rows, next.as_deref(), "The failure queue is empty here.", &GROUP_HEADERS_OF_ALL, GroupOut::cells_of_all)
}

/// The key of a group as a cursor.
fn write_key(key: &GroupKey) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{} {} {}", key.merchant.0, key.endpoint.0, key.reason))
}

/// Reads a cursor that [`write_key`] wrote.
fn read_key(cursor: &str) -> Option<GroupKey> {
    let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut parts = text.splitn(3, ' ');
    let merchant = MerchantId(parts.next()?.parse().ok()?);
    Some(GroupKey { merchant, endpoint: EndpointId(parts.next()?.parse().ok()?), reason: parts.next()?.to_owned() })
}

async fn list(app: &App, merchant: MerchantId, kind: Kind, options: &List, format: Format) -> anyhow::Result<()> {
    let after: Option<(DateTime<Utc>, Uuid)> = options.page.after(read_moment)?;
    let after = after.unwrap_or((DateTime::UNIX_EPOCH, Uuid::nil()));
    let mut entries = failures::list(app.store(merchant), merchant, kind, after, options.page.most()).await?;
    let next = options.page.cut(&mut entries, |last| write_moment(last.failed_at, last.message_id));
    let rows: Vec<EntryOut> = entries.into_iter().map(EntryOut::from).collect();
    let headers = ["MESSAGE", "FAILED", "EVENT", "SUBJECT", "SEQUENCE", "ATTEMPTS", "REASON", "STATE", "OWNER"];
    output::page(format, &rows, next.as_deref(), "The failure queue has no messages of this interface.", &headers, |row| {
        vec![
            row.message_id.clone(),
            row.failed_at.clone(),
            row.event.clone(),
            row.subject.clone(),
            row.sequence.to_string(),
            row.attempts.to_string(),
            row.reason.clone(),
            row.state.clone(),
            row.owner.clone().unwrap_or_default(),
        ]
    })
}

/// A count for tables. The database stops counting at [`MOST_COUNTED`].
pub(super) fn count(counted: i64) -> String {
    if counted >= MOST_COUNTED { format!("{MOST_COUNTED} or more") } else { counted.to_string() }
}

/// Tells about messages that are not in the failure queue, because they were never sent.
fn unsent_note(merchant: &str, Unsent { interface, waiting, dropped }: &Unsent) -> String {
    let (messages, are) = if *waiting == 1 { ("message", "is") } else { ("messages", "are") };
    let waiting = (*waiting > 0).then(|| {
        format!(
            "{waiting} {messages} for {interface} {are} unsent, because there was no endpoint at the time; `backhaul endpoint set --merchant {merchant} {interface} --send-waiting` sends what waits."
        )
    });
    let (messages, were) = if *dropped == 1 { ("message", "was") } else { ("messages", "were") };
    let dropped = (*dropped > 0).then(|| format!("{dropped} {messages} for {interface} {were} dropped after 30 days without being sent."));
    [waiting, dropped].into_iter().flatten().collect::<Vec<_>>().join("\n")
}
