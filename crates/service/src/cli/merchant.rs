//! `backhaul merchant …`.

use clap::Subcommand;
use domain::id::Handle;
use serde::Serialize;
use store::merchants::{self, Merchant};
use wire::time;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_merchant as flow;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a merchant.
    Add {
        /// Its short name: lower-case letters, digits, hyphens.
        handle: Handle,
        /// Its name.
        #[arg(long)]
        name: String,
        /// The e-mail address to write to when its systems fail.
        #[arg(long)]
        technical_contact: Option<String>,
    },
    /// Change a merchant.
    Set {
        /// Its short name.
        handle: Handle,
        /// The e-mail address to write to when its systems fail; an empty one is nobody.
        #[arg(long)]
        technical_contact: String,
    },
    /// List the merchants.
    List,
    /// Show a merchant.
    Show {
        /// Its short name.
        handle: Handle,
    },
    /// Refuse a merchant's calls, within 5 seconds.
    Pause {
        /// Its short name.
        handle: Handle,
    },
    /// Answer a merchant's calls again.
    Resume {
        /// Its short name.
        handle: Handle,
    },
}

#[derive(Serialize)]
struct Shown {
    handle: String,
    name: String,
    state: &'static str,
    technical_contact: Option<String>,
    created_at: String,
    merchant_id: String,
}

impl From<Merchant> for Shown {
    fn from(merchant: Merchant) -> Self {
        Self {
            handle: merchant.handle,
            name: merchant.name,
            state: if merchant.paused_at.is_some() { "paused" } else { "live" },
            technical_contact: merchant.technical_contact,
            created_at: time::write(merchant.created_at),
            merchant_id: merchant.id.to_string(),
        }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { handle, name, technical_contact } => {
            flow::add_merchant(app, &actor(), &handle, &name, technical_contact.as_deref()).await?;
            output::one(format, &Shown::from(merchant(app, &handle).await?))
        }
        Command::Set { handle, technical_contact } => {
            let contact = Some(technical_contact.as_str()).filter(|contact| !contact.is_empty());
            flow::set_technical_contact(app, &actor(), &merchant(app, &handle).await?, contact).await?;
            output::one(format, &Shown::from(merchant(app, &handle).await?))
        }
        Command::List => {
            let merchants: Vec<Shown> = merchants::list(app.cell()).await?.into_iter().map(Shown::from).collect();
            let empty = "There are no merchants yet; `backhaul merchant add HANDLE --name NAME` adds one.";
            output::list(format, &merchants, empty, &["HANDLE", "NAME", "STATE", "CREATED"], |shown| {
                vec![shown.handle.clone(), shown.name.clone(), shown.state.to_owned(), shown.created_at.clone()]
            })
        }
        Command::Show { handle } => output::one(format, &Shown::from(merchant(app, &handle).await?)),
        Command::Pause { handle } => {
            flow::pause_merchant(app, &actor(), &merchant(app, &handle).await?).await?;
            output::one(format, &Shown::from(merchant(app, &handle).await?))
        }
        Command::Resume { handle } => {
            flow::resume_merchant(app, &actor(), &merchant(app, &handle).await?).await?;
            output::one(format, &Shown::from(merchant(app, &handle).await?))
        }
    }
}
