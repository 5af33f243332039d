//! `backhaul audit …`: who changed what, and whether anybody has tampered with the record of it.

use anyhow::bail;
use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand};
use domain::id::{Handle, MerchantId};
use serde::Serialize;
use store::merchants::accounts;
use store::merchants::audit::{self, LISTED, Recorded};
use store::merchants::audit_chain::{self, Chain, DELETED_LISTED};
use uuid::Uuid;
use wire::page::{read_moment, write_moment};
use wire::time;

use crate::app::App;
use crate::cli::context::find_merchant;
use crate::cli::moment::moment;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::merchants::verify_audit::{Verified, verify_audit};
use crate::show::merchants::audit_entries;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List who changed what, newest first.
    List(List),
    /// Verify the chains of the audit trail, and name the first entry of each that was altered, removed or put in.
    Verify {
        /// The merchant's handle; every merchant, also those that were deleted, and what belongs to none if left out.
        merchant: Option<Handle>,
    },
}

/// The most times that a page reads entries, [`LISTED`] of them each time.
const MOST_READS: usize = 50;

#[derive(Args)]
pub(in crate::cli) struct List {
    /// Only changes of this merchant, by its handle.
    #[arg(long, value_name = "HANDLE")]
    merchant: Option<Handle>,
    /// Only changes by people whose name has this in it.
    #[arg(long, default_value = "")]
    who: String,
    /// Only actions that have this in them, such as `endpoint`.
    #[arg(long, default_value = "")]
    what: String,
    /// Only changes at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    since: Option<DateTime<Utc>>,
    /// Only changes before this time (ISO 8601).
    #[arg(long, value_parser = moment)]
    until: Option<DateTime<Utc>>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Serialize)]
struct EntryOut {
    at: String,
    audit_id: String,
    merchant: Option<String>,
    actor: String,
    action: String,
    detail: String,
    before: Option<serde_json::Value>,
    after: Option<serde_json::Value>,
    sequence: Option<i64>,
    previous_hash: Option<String>,
    hash: Option<String>,
}

impl From<Recorded> for EntryOut {
    fn from(entry: Recorded) -> Self {
        let hex = |hash: &[u8]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        let fields = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            at: time::write(entry.done_at),
            audit_id: entry.id.to_string(),
            merchant: entry.handle,
            actor: entry.actor,
            action: entry.action,
            detail: entry.detail,
            before: fields(entry.before),
            after: fields(entry.after),
            sequence: entry.sequence,
            previous_hash: entry.previous_hash.as_deref().map(hex),
            hash: entry.hash.as_deref().map(hex),
        }
    }
}

#[derive(Serialize)]
struct ChainOut {
    /// The merchant's handle; `None` for what belongs to no merchant, and for a merchant that was deleted.
    merchant: Option<String>,
    /// The id of a merchant that was deleted, whose audit is kept.
    deleted_merchant_id: Option<String>,
    entries: i64,
    begins_after: i64,
    result: &'static str,
    broken_sequence: Option<i64>,
    broken_audit_id: Option<String>,
    why: Option<String>,
}

impl ChainOut {
    fn new(merchant: Option<String>, deleted: Option<MerchantId>, verified: Verified) -> Self {
        let Verified { entries, begins_after, broken } = verified;
        Self {
            merchant,
            deleted_merchant_id: deleted.map(|merchant| merchant.to_string()),
            entries,
            begins_after,
            result: if broken.is_some() { "broken" } else { "whole" },
            broken_sequence: broken.as_ref().and_then(|broken| broken.sequence),
            broken_audit_id: broken.as_ref().and_then(|broken| broken.id).map(|id| id.to_string()),
            why: broken.map(|broken| broken.why.to_string()),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => list(app, &options, format).await,
        Command::Verify { merchant } => verify(app, merchant, format).await,
    }
}

async fn list(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let merchant = match &options.merchant {
        Some(handle) => Some(find_merchant(app, handle).await?.id),
        None => None,
    };
    let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.trim().to_lowercase());
    let since = options.since.unwrap_or(DateTime::UNIX_EPOCH);
    // Other nodes' clocks may be a little ahead.
    let until = (options.until.unwrap_or(app.now() + TimeDelta::minutes(5)), Uuid::max());
    let mut before = options.page.after(read_moment)?.unwrap_or(until);
    let (most, mut rows, mut next) = (options.page.limit(), Vec::new(), None);
    // A page reads a bounded number of entries, so that rare ones do not take the whole trail.
    for _ in 0..MOST_READS {
        let page = match merchant {
            Some(merchant) => audit::list(app.store(merchant), merchant, since, before).await?,
            None => audit_entries::list_all(app, since, before).await?,
        };
        let last =
            page.last().map(|entry| (entry.done_at, entry.id)).filter(|_| i64::try_from(page.len()).is_ok_and(|count| count >= LISTED));
        rows.extend(page.into_iter().filter(|entry| holds(&entry.actor, &options.who) && holds(&entry.action, &options.what)));
        next = last;
        match last {
            Some(last) if rows.len() < most => before = last,
            _ => break,
        }
    }
    if rows.len() > most {
        rows.truncate(most);
        next = rows.last().map(|entry| (entry.done_at, entry.id));
    }
    let next = next.map(|(at, id)| write_moment(at, id));
    let rows: Vec<EntryOut> = rows.into_iter().map(EntryOut::from).collect();
    let headers = ["AT", "MERCHANT", "WHO", "WHAT", "WHICH", "BEFORE", "AFTER"];
    let empty = if next.is_some() { "None of these changes fits." } else { "No change fits." };
    output::page(format, &rows, next.as_deref(), empty, &headers, |row| {
        let fields = |fields: &Option<serde_json::Value>| fields.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        let merchant = row.merchant.clone().unwrap_or_else(|| "-".to_owned());
        vec![row.at.clone(), merchant, row.actor.clone(), row.action.clone(), row.detail.clone(), fields(&row.before), fields(&row.after)]
    })
}

/// The merchants that were deleted, or have moved to another cell, and whose chain is kept.
async fn gone(app: &App) -> anyhow::Result<Vec<MerchantId>> {
    let (mut all, mut after) = (Vec::new(), MerchantId(Uuid::nil()));
    loop {
        let page = audit_chain::of_deleted(app.cell(), after).await?;
        let is_last = i64::try_from(page.len())? < DELETED_LISTED;
        after = page.last().copied().unwrap_or(after);
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

async fn verify(app: &App, merchant: Option<Handle>, format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    if let Some(handle) = merchant {
        let chain = Chain::Of(find_merchant(app, &handle).await?.id);
        rows.push(ChainOut::new(Some(handle.to_string()), None, verify_audit(app, chain).await?));
    } else {
        rows.push(ChainOut::new(None, None, verify_audit(app, Chain::Home).await?));
        // A merchant that has moved has a chain in each of its cells.
        for cell in app.of_each_cell() {
            for merchant in accounts::list(cell.cell()).await? {
                rows.push(ChainOut::new(Some(merchant.handle), None, verify_audit(&cell, Chain::Of(merchant.id)).await?));
            }
            for gone in gone(&cell).await? {
                rows.push(ChainOut::new(None, Some(gone), verify_audit(&cell, Chain::Of(gone)).await?));
            }
        }
    }
    output::list(format, &rows, "", &["MERCHANT", "ENTRIES", "RESULT", "ENTRY", "WHY"], |row| {
        let entry = match (row.broken_sequence, &row.broken_audit_id) {
            (Some(sequence), Some(id)) => format!("{sequence}, {id}"),
            (Some(sequence), None) => sequence.to_string(),
            (None, Some(id)) => id.clone(),
            (None, None) => "-".to_owned(),
        };
        let deleted = row.deleted_merchant_id.as_ref().map(|id| format!("{id} (deleted)"));
        let merchant = row.merchant.clone().or(deleted).unwrap_or_else(|| "-".to_owned());
        vec![merchant, row.entries.to_string(), row.result.to_owned(), entry, row.why.clone().unwrap_or_else(|| "-".to_owned())]
    })?;
    match rows.iter().filter(|row| row.why.is_some()).count() {
        0 => Ok(()),
        broken => bail!(
            "{broken} of {} chains are broken; compare the entries named above with your backup and with what was exported",
            rows.len()
        ),
    }
}
