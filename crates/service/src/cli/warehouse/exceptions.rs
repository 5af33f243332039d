//! `backhaul exceptions …`: support's work list of receiving exceptions.

use clap::{Args, Subcommand, ValueEnum};
use domain::id::MerchantId;
use serde::Serialize;
use store::node::short_ids::Identified;
use store::warehouse::exception_notes;
use store::warehouse::exception_pages::{self, Shown, WorkedException};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::warehouse::work_on_exception::{ExceptionAction, WorkOnExceptionError, work_on_exception};

/// The most steps of a history that are shown.
const MOST_NOTES: i64 = 100;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List a merchant's receiving exceptions: the open ones oldest first, or the resolved ones newest first.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The exceptions to list.
        #[arg(long, value_enum, default_value_t = Which::Open)]
        show: Which,
        /// The e-mail address of the person whose exceptions are listed.
        #[arg(long, value_name = "EMAIL", required_if_eq("show", "mine"))]
        owner: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show a receiving exception.
    Show(OfException),
    /// List what was done about an exception, and by whom, newest first.
    Notes(OfException),
    /// Assign an exception to an operator, or with an empty address to nobody.
    Assign {
        #[command(flatten)]
        exception: OfException,
        /// The operator's e-mail address.
        email: String,
    },
    /// Add a note to an exception.
    Note {
        #[command(flatten)]
        exception: OfException,
        text: String,
    },
    /// Resolve an exception that does not end by itself. It cannot be opened again.
    Resolve {
        #[command(flatten)]
        exception: OfException,
        /// The reason for which nothing more is to be done.
        reason: String,
    },
}

/// The exceptions that a list shows.
#[derive(Clone, Copy, ValueEnum)]
pub(in crate::cli) enum Which {
    /// All that are open.
    Open,
    /// Those that are open and assigned to --owner.
    Mine,
    /// Those that are open and assigned to nobody.
    Unassigned,
    /// Those that are resolved.
    Resolved,
}

#[derive(Args)]
pub(in crate::cli) struct OfException {
    /// The exception's id.
    id: Id,
    #[command(flatten)]
    merchant: OfMerchant,
}

impl OfException {
    /// The merchant, and the exception's whole id.
    async fn find(&self, app: &App) -> anyhow::Result<(MerchantId, Uuid)> {
        let merchant = self.merchant.find(app).await?.id;
        Ok((merchant, self.id.of(app, merchant, Identified::ReceivingException).await?))
    }
}

#[derive(Serialize)]
struct ExceptionOut {
    id: String,
    found_at: String,
    exception: String,
    scanned_for: String,
    unit_identifier: String,
    line_identifier: String,
    sku: Option<String>,
    quantity: i32,
    warehouse: Option<String>,
    owner: String,
    resolved_at: Option<String>,
    resolution: Option<String>,
}

impl From<WorkedException> for ExceptionOut {
    fn from(found: WorkedException) -> Self {
        Self {
            id: found.id.to_string(),
            found_at: time::write(found.found_at),
            exception: found.exception,
            scanned_for: found.scanned_for,
            unit_identifier: found.unit_identifier,
            line_identifier: found.line_identifier,
            sku: found.sku,
            quantity: found.quantity,
            warehouse: found.warehouse,
            owner: found.owner,
            resolved_at: found.resolved_at.map(time::write),
            resolution: found.resolution,
        }
    }
}

#[derive(Serialize)]
struct NoteOut {
    made_at: String,
    actor: String,
    kind: String,
    text: String,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List { merchant, show, owner, page } => {
            let shown = match (show, owner) {
                (Which::Open, None) => Shown::Open,
                (Which::Unassigned, _) => Shown::OwnedBy(String::new()),
                (Which::Resolved, _) => Shown::Resolved,
                (Which::Open | Which::Mine, owner) => Shown::OwnedBy(owner.unwrap_or_default().to_lowercase()),
            };
            list(app, &merchant, &shown, &page, format).await
        }
        Command::Show(exception) => show(app, &exception, format).await,
        Command::Notes(exception) => notes(app, &exception, format).await,
        Command::Assign { exception, email } => act(app, &exception, ExceptionAction::Assign(email), format).await,
        Command::Note { exception, text } => act(app, &exception, ExceptionAction::AddNote(text), format).await,
        Command::Resolve { exception, reason } => act(app, &exception, ExceptionAction::Resolve(reason), format).await,
    }
}

async fn show(app: &App, exception: &OfException, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = exception.find(app).await?;
    let found = exception_pages::find(app.store(merchant), merchant, id).await?;
    output::one(format, &ExceptionOut::from(found.ok_or(WorkOnExceptionError::Unknown(id))?))
}

async fn act(app: &App, exception: &OfException, action: ExceptionAction, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = exception.find(app).await?;
    work_on_exception(app, &actor(), merchant, id, &[action]).await?;
    show(app, exception, format).await
}

async fn list(app: &App, merchant: &OfMerchant, shown: &Shown, page: &PageArgs, format: Format) -> anyhow::Result<()> {
    let id = merchant.find(app).await?.id;
    let found = exception_pages::list(app.store(id), Some(id), shown, page.place()?, page.limit()).await?;
    let next = found.next.map(|next| next.to_string());
    let out: Vec<ExceptionOut> = found.exceptions.into_iter().map(ExceptionOut::from).collect();
    let empty = format!("{merchant} has no such receiving exceptions.");
    let headers = ["ID", "FOUND", "EXCEPTION", "SCANNED FOR", "UNIT OR LINE", "UNITS", "OWNER"];
    output::page(format, &out, next.as_deref(), &empty, &headers, |out| {
        let what = if out.unit_identifier.is_empty() { &out.line_identifier } else { &out.unit_identifier };
        let owner = if out.owner.is_empty() { "-" } else { &out.owner };
        let texts = [&out.id, &out.found_at, &out.exception, &out.scanned_for, what, &out.quantity.to_string(), owner];
        texts.map(ToString::to_string).to_vec()
    })
}

async fn notes(app: &App, exception: &OfException, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = exception.find(app).await?;
    let notes = exception_notes::list(app.store(merchant), merchant, id, MOST_NOTES).await?;
    let out: Vec<NoteOut> = notes
        .into_iter()
        .map(|note| NoteOut { made_at: time::write(note.made_at), actor: note.actor, kind: note.kind, text: note.text })
        .collect();
    output::list(format, &out, "Nobody has worked on this exception yet.", &["AT", "WHO", "WHAT", "TEXT"], |note| {
        vec![note.made_at.clone(), note.actor.clone(), note.kind.clone(), note.text.clone()]
    })
}
