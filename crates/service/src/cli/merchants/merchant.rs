//! `backhaul merchant …`: the merchants of this installation.

mod listing;
mod shown;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use domain::id::Handle;
use domain::merchants::onboarding::Step;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::merchants::{deletions, onboarding as kept};
use store::messages::unsent;
use wire::time;

use self::shown::MerchantOut;
use super::moving;
use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{AT_A_TERMINAL, actor, find_merchant};
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::merchants::add_merchant::{NewMerchant, add_merchant_to};
use crate::flow::merchants::configure_merchant as flow;
use crate::flow::merchants::delete_merchant::{begin_deleting_merchant, check};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add a merchant.
    Add {
        /// The merchant's handle, a short name of lower-case letters, digits and hyphens.
        handle: Handle,
        /// The merchant's full name.
        #[arg(long)]
        name: String,
        /// The e-mail address to notify when the merchant's systems fail.
        #[arg(long)]
        technical_contact: Option<String>,
        /// The cell in which it is to live, as `backhaul cell list` names it; if left out, the open one with the fewest merchants.
        #[arg(long)]
        cell: Option<String>,
    },
    /// Change a merchant's technical contact, retention or promise to refund.
    #[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
    Set {
        /// The merchant's handle.
        handle: Handle,
        /// The e-mail address to notify when the merchant's systems fail; an empty one removes the contact.
        #[arg(long, group = "change")]
        technical_contact: Option<String>,
        /// The days after their last change for which orders and returns keep personal data. Then it is overwritten, which cannot be
        /// undone.
        #[arg(long, group = "change", value_parser = clap::value_parser!(i32).range(30..=3650))]
        retention_days: Option<i32>,
        /// The days within which the merchant promises to refund goods that came back; refunds that take longer are shown as overdue. A
        /// change counts for goods that come back from now on.
        #[arg(long, group = "change", value_parser = clap::value_parser!(i32).range(1..=365))]
        refund_days: Option<i32>,
    },
    /// Give a merchant another name, which shoppers see within 5 seconds where the portal has no name of its own. The handle stays.
    Rename {
        /// The merchant's handle.
        handle: Handle,
        /// The merchant's full name.
        #[arg(long)]
        name: String,
    },
    /// List the merchants.
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show a merchant.
    Show {
        /// The merchant's handle.
        handle: Handle,
    },
    /// Pause a merchant: within 5 seconds, its API calls are refused.
    ///
    /// Shows what follows and asks first.
    Pause {
        /// The merchant's handle.
        handle: Handle,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Resume a paused merchant.
    Resume {
        /// The merchant's handle.
        handle: Handle,
    },
    /// Delete a paused merchant and everything of it. Shows what there is, and asks first. This cannot be undone.
    Delete {
        /// The merchant's handle.
        handle: Handle,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Show how far a merchant is on its way to live, and since when it has been stuck.
    Onboarding {
        /// The merchant's handle.
        handle: Handle,
    },
    /// Declare a merchant live, whatever steps are still open.
    Live {
        /// The merchant's handle.
        handle: Handle,
    },
    /// Move a merchant to another cell, with everything it has and a pause of some seconds. Repeat it to continue one that was broken off.
    Move(moving::Move),
}

/// A merchant with its unsent messages.
#[derive(Serialize)]
struct ShownMerchant {
    #[serde(flatten)]
    merchant: MerchantOut,
    /// Written while their interface had no endpoint.
    unsent_messages: i64,
    /// Dropped after 30 days without being sent.
    dropped_unsent_messages: i64,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { handle, name, technical_contact, cell } => {
            let new = NewMerchant { handle: &handle, name: &name, technical_contact: technical_contact.as_deref(), cell: cell.as_deref() };
            let app = &app.of(add_merchant_to(app, &actor(), &new).await?).await?;
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
        Command::Set { handle, technical_contact, retention_days, refund_days } => {
            let merchant = find_merchant(app, &handle).await?;
            if let Some(contact) = technical_contact {
                let contact = Some(contact.as_str()).filter(|contact| !contact.is_empty());
                flow::set_technical_contact(app, &actor(), &merchant, contact).await?;
            }
            if let Some(days) = retention_days {
                flow::set_retention(app, &actor(), &merchant, days).await?;
            }
            if let Some(days) = refund_days {
                flow::set_refund_days(app, &actor(), &merchant, days).await?;
            }
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
        Command::Rename { handle, name } => {
            flow::rename_merchant(app, &actor(), &find_merchant(app, &handle).await?, &name).await?;
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
        Command::Move(_) => bail!(AT_A_TERMINAL),
        Command::List { page } => listing::list(app, &page, format).await,
        Command::Show { handle } => {
            let merchant = find_merchant(app, &handle).await?;
            let unsent = unsent::list(app.store(merchant.id), merchant.id).await?;
            let shown = ShownMerchant {
                unsent_messages: unsent.iter().map(|unsent| unsent.waiting).sum(),
                dropped_unsent_messages: unsent.iter().map(|unsent| unsent.dropped).sum(),
                merchant: merchant.into(),
            };
            output::one(format, &shown)
        }
        Command::Pause { handle, confirmation } => {
            let merchant = find_merchant(app, &handle).await?;
            let preview = format!(
                "Pausing {handle} ({}) has every call of its systems refused with 403 within 5 seconds: orders, returns, warehouse \
                 reports. Messages that are owed are still delivered, and shoppers' pages still work. `backhaul merchant resume \
                 {handle}` undoes it.",
                merchant.name
            );
            confirmation.ask(&preview, handle.as_str())?;
            flow::pause_merchant(app, &actor(), &merchant).await?;
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
        Command::Resume { handle } => {
            flow::resume_merchant(app, &actor(), &find_merchant(app, &handle).await?).await?;
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
        Command::Delete { handle, confirmation } => delete(app, &find_merchant(app, &handle).await?, &confirmation, format).await,
        Command::Onboarding { handle } => onboarding(app, &find_merchant(app, &handle).await?, format).await,
        Command::Live { handle } => {
            flow::go_live(app, &actor(), &find_merchant(app, &handle).await?).await?;
            output::one(format, &MerchantOut::from(find_merchant(app, &handle).await?))
        }
    }
}

/// What a merchant has; a million stands for a million or more.
#[derive(Serialize)]
struct DeletionOut {
    handle: String,
    state: &'static str,
    orders: i64,
    returns: i64,
    drop_ship_orders: i64,
    outbound_shipments: i64,
    messages: i64,
    /// Of the messages, those that will never arrive.
    owed_messages: i64,
    /// Of the messages, those in the failure queue.
    failed_messages: i64,
    photos: i64,
}

/// Deletes a merchant. Repeated while it is being deleted, shows what is left.
async fn delete(app: &App, merchant: &Merchant, confirmation: &Confirmation, format: Format) -> anyhow::Result<()> {
    let counts = deletions::count(app.store(merchant.id), merchant.id).await?;
    if merchant.deleting_at.is_none() {
        check(app, merchant).await?;
        let preview = format!(
            "This deletes {} and everything of it for ever: {}, {}, {} and {}, {} of them still to be delivered.",
            merchant.handle,
            output::counted(counts.orders, "order"),
            output::counted(counts.returns, "return"),
            output::counted(counts.drop_ship_orders, "drop-ship order"),
            output::counted(counts.messages, "message"),
            counts.owed,
        );
        confirmation.ask(&preview, &merchant.handle)?;
        begin_deleting_merchant(app, &actor(), merchant).await?;
    }
    let out = DeletionOut {
        handle: merchant.handle.clone(),
        state: "deleting",
        orders: counts.orders,
        returns: counts.returns,
        drop_ship_orders: counts.drop_ship_orders,
        outbound_shipments: counts.shipments,
        messages: counts.messages,
        owed_messages: counts.owed,
        failed_messages: counts.failures,
        photos: counts.photos,
    };
    output::note("Deleting goes on in the background, from 5 minutes after it was confirmed. Repeat the command to see what is left.");
    output::one(format, &out)
}

#[derive(Serialize)]
struct StepOut {
    step: &'static str,
    /// done, now or to come.
    state: &'static str,
    done_at: Option<String>,
    stuck_since: Option<String>,
}

/// Shows the steps on the merchant's way to live.
async fn onboarding(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    let facts = kept::facts(app.store(merchant.id), merchant.id).await?.context("the merchant is gone")?;
    let current = facts.current();
    let steps: Vec<StepOut> = Step::ALL
        .into_iter()
        .map(|step| {
            let (done_at, now) = (facts.done_at(step), current.filter(|(current, _)| *current == step));
            StepOut {
                step: step.as_str(),
                state: match (done_at, now) {
                    (Some(_), _) => "done",
                    (None, Some(_)) => "now",
                    (None, None) => "to come",
                },
                done_at: done_at.map(time::write),
                stuck_since: now.map(|(_, since)| time::write(since)),
            }
        })
        .collect();
    output::list(format, &steps, "", &["STEP", "STATE", "DONE", "STUCK SINCE"], |shown| {
        let time = |time: &Option<String>| time.clone().unwrap_or_default();
        vec![shown.step.to_owned(), shown.state.to_owned(), time(&shown.done_at), time(&shown.stuck_since)]
    })
}
