//! `backhaul orders import`: the same flow as the HTTP import, run directly against the database.

mod file;
mod progress;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::Args;
use domain::id::MerchantId;
use serde::Serialize;
use serde_json::Value;
use store::node::short_ids::Identified;
use store::orders::imports::{self, RefusedLine};
use uuid::Uuid;
use wire::orders::import::{AcceptedCounts, OrderImport};
use wire::time;

use self::file::File;
use self::progress::Progress;
use super::faults::faults_text;
use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::orders::count_intake::count_intake;
use crate::flow::orders::import_orders::{self as flow, Interrupted, ResumeError, Resumed, describe};

/// The refused lines shown at the end of an import.
const SHOWN: i64 = 10;

/// The time between two attempts to take over an import that another run holds.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(in crate::cli) struct Import {
    /// The file to import; `-` reads standard input.
    file: String,
    #[command(flatten)]
    merchant: OfMerchant,
    /// Resume this interrupted import, with the same file.
    #[arg(long, value_name = "ID")]
    resume: Option<Id>,
}

#[derive(Args)]
pub(in crate::cli) struct Report {
    /// The import's id.
    id: Id,
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    page: PageArgs,
}

pub(in crate::cli) async fn run(import: Import, app: &App, format: Format) -> anyhow::Result<()> {
    let merchant = import.merchant.find(app).await?.id;
    // Open the file first: an import must not begin without it.
    let mut file = File::open(&import.file).with_context(|| format!("the file {} cannot be read", import.file))?;
    let run = match &import.resume {
        None => flow::begin(app, merchant, Some(&actor())).await?,
        Some(id) => match resume(app, merchant, id.of(app, merchant, Identified::OrderImport).await?).await? {
            Resumed::Run(run) => run,
            Resumed::Done(done) => return finish(&import, app, merchant, &describe(&done, app.now()), format).await,
        },
    };
    let resume = format!("backhaul orders import {} --merchant {} --resume {}", quoted(&import.file), import.merchant, run.import());
    // Print this now: a killed process cannot.
    output::progress(&format!("Import {} started. If it is interrupted, resume it with\n  {resume}", run.import()));
    let progress = Arc::new(Progress::start(app.clock.clone(), file.size(), run.done()));
    file.report_to(Arc::clone(&progress));
    let observer = Arc::clone(&progress);
    let outcome = flow::run(app, run, &mut file, Arc::new(move |counts| observer.stored(counts))).await;
    progress.end();
    count_intake(app).await?;
    match outcome {
        Ok(done) => finish(&import, app, merchant, &describe(&done, app.now()), format).await,
        Err(Interrupted { cause, .. }) => {
            bail!("the import was interrupted: {cause}. The lines stored so far are kept; resume it with\n  {resume}")
        }
    }
}

/// Resumes the import `id`. A killed run could not release its lease, so this waits for the lease to expire.
async fn resume(app: &App, merchant: MerchantId, id: Uuid) -> anyhow::Result<Resumed> {
    let mut deadline: Option<DateTime<Utc>> = None;
    loop {
        match flow::resume(app, merchant, id, Some(&actor())).await {
            Ok(resumed) => return Ok(resumed),
            Err(ResumeError::Unknown) => bail!("the merchant has no import {id}; leave out --resume to start a new one"),
            Err(ResumeError::Failed(failed)) => return Err(failed.into()),
            Err(ResumeError::Running(until)) if deadline.is_none() => {
                output::progress(&format!(
                    "Another run may still be working on this import; waiting until {} for it to end.",
                    time::write(until)
                ));
                deadline = Some(until);
            }
            Err(ResumeError::Running(_)) if deadline.is_some_and(|deadline| deadline < app.now()) => {
                bail!("another run is still working on this import; wait until it ends")
            }
            Err(ResumeError::Running(_)) => tokio::time::sleep(RETRY_INTERVAL).await,
        }
    }
}

/// Quotes an argument for the shell.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./+=:@,".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Prints the import's totals and the first refused lines.
async fn finish(import: &Import, app: &App, merchant: MerchantId, done: &OrderImport, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, done);
    }
    let AcceptedCounts { created, updated, unchanged, stale } = done.accepted;
    let (lines, orders) = (output::counted(done.lines, "line"), output::counted(created, "order"));
    output::line(&format!("{lines}: {orders} created, {updated} updated, {unchanged} unchanged, {stale} stale."));
    if done.refused == 0 {
        return Ok(());
    }
    output::line(&format!("Refused lines: {}", done.refused));
    let id: Uuid = done.import_id.parse()?;
    let first = imports::list_refusals(app.store(merchant), merchant, id, 0, SHOWN).await?;
    show(first, None, format)?;
    if done.refused > SHOWN.unsigned_abs() {
        output::line(&format!("To see all of them:\n  backhaul orders import-report {id} --merchant {}", import.merchant));
    }
    Ok(())
}

pub(in crate::cli) async fn report(report: Report, app: &App, format: Format) -> anyhow::Result<()> {
    let merchant = report.merchant.find(app).await?.id;
    let id = report.id.of(app, merchant, Identified::OrderImport).await?;
    let known = imports::find(app.store(merchant), merchant, id).await?;
    known.with_context(|| format!("the merchant has no import {id}"))?;
    let after = report.page.after(|text| text.parse().ok().filter(|line: &i64| *line >= 0))?.unwrap_or_default();
    let mut rows = imports::list_refusals(app.store(merchant), merchant, id, after, report.page.most()).await?;
    let next = report.page.cut(&mut rows, |last| last.line.to_string());
    show(rows, next.as_deref(), format)
}

#[derive(Serialize)]
struct Refused {
    line: i64,
    order_identifier: Option<String>,
    errors: Value,
}

fn show(rows: Vec<RefusedLine>, next: Option<&str>, format: Format) -> anyhow::Result<()> {
    let refused = |RefusedLine { line, order_identifier, faults }| Refused {
        line,
        order_identifier,
        errors: serde_json::from_str(&faults).unwrap_or_default(),
    };
    let rows: Vec<Refused> = rows.into_iter().map(refused).collect();
    output::page(format, &rows, next, "No line was refused.", &["LINE", "ORDER", "WHY"], |row| {
        vec![row.line.to_string(), row.order_identifier.clone().unwrap_or_default(), faults_text(&row.errors)]
    })
}
