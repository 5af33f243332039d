//! `backhaul messages …`: the messages sent or owed to merchants' systems.

mod listing;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use serde::Serialize;
use store::messages::attempts::{self, Attempt};
use store::messages::log;
use store::node::short_ids::Identified;
use wire::messages::message::{AttemptOut, Attempts, MessageOut};

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::messages::retry_message::{Asker, retry_message};
use crate::show::messages::deliveries;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List messages of a merchant or of all merchants, newest first.
    List(listing::List),
    /// Show a message with its body, its state and its attempts.
    Show(Show),
    /// Send a delivered or failed message again, with the same id and body.
    Retry(OfMessage),
}

#[derive(Args)]
pub(in crate::cli) struct OfMessage {
    /// The message's id, as in the `webhook-id` header.
    id: Id,
    #[command(flatten)]
    merchant: OfMerchant,
}

#[derive(Args)]
pub(in crate::cli) struct Show {
    #[command(flatten)]
    message: OfMessage,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Serialize)]
pub(in crate::cli) struct Retried {
    pub(in crate::cli) message_id: String,
    pub(in crate::cli) attempt: i16,
    pub(in crate::cli) warning: Option<&'static str>,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => listing::run(app, &options, format).await,
        Command::Show(Show { message: OfMessage { id, merchant }, page: wanted }) => {
            let merchant_id = merchant.find(app).await?.id;
            let id = id.of(app, merchant_id, Identified::Message).await?;
            let found = log::find(app.store(merchant_id), merchant_id, id).await?;
            let found = found.with_context(|| format!("{merchant} has no message {id}; messages are kept for 30 days"))?;
            let mut page = attempts::page(
                app.store(merchant_id),
                merchant_id,
                id,
                wanted.after(deliveries::read_place)?,
                u32::try_from(wanted.limit())?,
            )
            .await?;
            mask(app, merchant_id, &mut page.attempts).await?;
            show(deliveries::message(found, page), format)
        }
        Command::Retry(OfMessage { id, merchant }) => {
            let merchant = merchant.find(app).await?.id;
            let id = id.of(app, merchant, Identified::Message).await?;
            let retried = retry_message(app, Asker::Operator(&actor()), merchant, id).await?;
            app.forward_signals_now().await;
            output::one(format, &Retried { message_id: id.to_string(), attempt: retried.attempt, warning: retried.warning() })
        }
    }
}

/// Takes secrets that the merchant's systems repeat out of their answers.
pub(in crate::cli) async fn mask(app: &App, merchant: MerchantId, attempts: &mut [Attempt]) -> anyhow::Result<()> {
    let secrets = deliveries::known_secrets(app, merchant).await?;
    for answer in attempts.iter_mut().filter_map(|attempt| attempt.answer.as_mut()) {
        *answer = secrets.mask(&String::from_utf8_lossy(answer)).into_bytes();
    }
    Ok(())
}

fn show(mut message: MessageOut, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, &message);
    }
    let attempts = std::mem::take(&mut message.attempts);
    show_message(message, &attempts)
}

/// Shows a message for people, with its attempts as a table below.
pub(in crate::cli) fn show_message(message: MessageOut, attempts: &Attempts) -> anyhow::Result<()> {
    let format = Format::Table;
    let mut fields = serde_json::to_value(message)?;
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|name, _| name != "attempts");
    }
    output::one(format, &fields)?;
    output::line("");
    output::list(
        format,
        &attempts.items,
        "No attempt was made yet.",
        &["ATTEMPT", "STARTED", "TOOK MS", "OUTCOME", "ANSWER"],
        |attempt| {
            let AttemptOut { number, started_at, took_ms, outcome, reason, answer, answer_base64, .. } = attempt;
            let text = reason.as_ref().or(answer.as_ref()).or(answer_base64.as_ref()).cloned().unwrap_or_default();
            vec![number.to_string(), started_at.clone(), took_ms.to_string(), outcome.clone(), text]
        },
    )?;
    if let Some(next) = &attempts.next {
        output::line(&format!("There are more attempts. `backhaul messages show` continues with --cursor {next}"));
    }
    Ok(())
}
