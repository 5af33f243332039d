//! `backhaul mails …`: the mails to shoppers, what they say of their sender, and which of them are sent.

use clap::{Args, Subcommand};
use domain::returns::mail::Mail;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::merchants::mail_settings;
use store::node::short_ids::Identified;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format};
use crate::flow::merchants::configure_mails::{self, MailChange};
use crate::flow::returns::resend_mail::{SentMail, list_mails, read_mail, resend_mail};
use crate::show::returns::rmas;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Change the sender of a merchant's mails, and which of them are sent.
    ///
    /// Options that are left out keep their value; an empty value restores the default.
    Set(Set),
    /// Show the sender of a merchant's mails, and which of them are not sent.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// List the newest 50 mails about a return, oldest first.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The return.
        rma_identifier: String,
    },
    /// Show a mail as its shopper reads it, but for the secret in its link.
    Read(OfMail),
    /// Send a mail about a return again, with the same content.
    Resend(OfMail),
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The name of the sender (the shop's name unless set). The address is that of the setting `mail.from`.
    #[arg(long)]
    sender_name: Option<String>,
    /// The e-mail address that answers go to (the portal's help address unless set).
    #[arg(long)]
    reply_to: Option<String>,
    /// A mail that is no longer sent, such as reminder. Repeat for several.
    #[arg(long, value_parser = mail)]
    off: Vec<Mail>,
    /// A mail that is sent again. Repeat for several.
    #[arg(long, value_parser = mail)]
    on: Vec<Mail>,
}

#[derive(Args)]
pub(in crate::cli) struct OfMail {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The mail, by its message's id.
    message: Id,
}

/// Parses the name of a mail, with or without its prefix.
fn mail(text: &str) -> Result<Mail, String> {
    let known = || Mail::ALL.iter().filter(|mail| mail.is_optional()).map(|mail| mail.short()).collect::<Vec<_>>().join(", ");
    let name = text.trim().trim_start_matches("mail.").replace('-', "_");
    Mail::ALL.iter().copied().find(|mail| mail.short() == name).ok_or_else(|| format!("write one of these: {}", known()))
}

impl From<Set> for MailChange {
    fn from(set: Set) -> Self {
        let text = |value: Option<String>| value.map(|value| value.trim().to_owned());
        Self {
            sender_name: text(set.sender_name),
            reply_to: text(set.reply_to),
            off: set.off.into_iter().collect(),
            on: set.on.into_iter().collect(),
        }
    }
}

#[derive(Serialize)]
struct SettingsOut {
    merchant: String,
    sender_name: String,
    reply_to: Option<String>,
}

/// The settings with the mails that are not sent: a list in JSON, a text in a table.
#[derive(Serialize)]
struct ShownSettings<O> {
    #[serde(flatten)]
    settings: SettingsOut,
    off: O,
}

#[derive(Serialize)]
struct MailOut {
    written_at: String,
    mail: String,
    state: &'static str,
    erased: bool,
    message_id: String,
}

#[derive(Serialize)]
struct ReadOut {
    #[serde(flatten)]
    sent: MailOut,
    to: String,
    subject: String,
    text: String,
}

fn shown(sent: &SentMail) -> MailOut {
    MailOut {
        written_at: time::write(sent.written_at),
        mail: sent.mail.clone(),
        state: sent.state.as_str(),
        erased: sent.erased,
        message_id: sent.id.to_string(),
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            configure_mails::set_mails(app, &actor(), merchant.id, set.into()).await?;
            show(app, &merchant, format).await
        }
        Command::Show { merchant } => show(app, &merchant.find(app).await?, format).await,
        Command::List { merchant, rma_identifier } => {
            let merchant = merchant.find(app).await?;
            let sent = list_mails(app, merchant.id, &rmas::identifier(&rma_identifier)).await?;
            let mails: Vec<MailOut> = sent.iter().map(shown).collect();
            let headers = ["WRITTEN", "MAIL", "STATE", "MESSAGE"];
            output::list(format, &mails, "There are no mails about this return; they are kept for 30 days.", &headers, |mail| {
                let state = if mail.erased { "erased" } else { mail.state };
                vec![mail.written_at.clone(), mail.mail.clone(), state.to_owned(), mail.message_id.clone()]
            })
        }
        Command::Read(of) => {
            let merchant = of.merchant.find(app).await?;
            let read = read_mail(app, merchant.id, of.message.of(app, merchant.id, Identified::Message).await?).await?;
            match format {
                Format::Json => {
                    let (sent, to, subject, text) = (shown(&read.sent), read.to, read.subject, read.text);
                    output::one(format, &ReadOut { sent, to, subject, text })
                }
                Format::Table => output::said(format, &format!("To: {}\nSubject: {}\n\n{}", read.to, read.subject, read.text.trim_end())),
            }
        }
        Command::Resend(of) => {
            let merchant = of.merchant.find(app).await?;
            let new = resend_mail(app, &actor(), merchant.id, of.message.of(app, merchant.id, Identified::Message).await?).await?;
            output::said(format, &format!("The mail is sent again as message {new}."))
        }
    }
}

async fn show(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    let sender = mail_settings::current_sender(app.store(merchant.id), merchant.id).await?;
    let off: Vec<&str> = sender.switched_off.iter().map(|mail| mail.short()).collect();
    let settings = SettingsOut { merchant: merchant.handle.clone(), sender_name: sender.name, reply_to: sender.reply_to };
    match format {
        Format::Json => output::one(format, &ShownSettings { settings, off }),
        Format::Table => output::one(format, &ShownSettings { settings, off: Some(off.join(", ")).filter(|off| !off.is_empty()) }),
    }
}
