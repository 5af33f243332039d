//! What people do with a return after a preview: cancel it, send its state again, confirm a refund, order the label again, send a mail
//! again.

use axum::response::Response;
use store::merchants::accounts::Merchant;
use store::messages::log::{self, State, written_at};
use store::returns::rmas::Return;
use uuid::Uuid;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::form::Path;
use super::frame::Section;
use super::merchant_head::{Head, Tab};
use super::question::Question;
use super::return_exchange::sentence;
use super::return_found::{At, find, return_at};
use crate::flow::returns::cancel_return::{BY_OPERATOR, CancelReturnError, cancel_return};
use crate::flow::returns::confirm_refund::{ConfirmRefundError, confirm_refund};
use crate::flow::returns::order_label::{OrderLabelError, order_label};
use crate::flow::returns::resend_mail::{ResendMailError, resend_mail};
use crate::flow::returns::resend_return::resend_return;
use crate::http::pages::see;

/// A preview: the question, what happens, the action's part of the path, the button, and the command up to the merchant.
struct Preview<'a> {
    asks: String,
    facts: Vec<(&'static str, String)>,
    action: &'a str,
    does: &'a str,
    is_grave: bool,
    /// The command before and after the merchant.
    command: (&'a str, String),
}

fn ask(by: &By<Support>, merchant: &Merchant, kept: &Return, preview: Preview<'_>) -> Result<Response, ConsoleError> {
    let here = return_at(&merchant.handle, &kept.identifier);
    let (before, after) = preview.command;
    Question {
        frame: by.frame(Section::Returns, &preview.asks),
        head: Head::new(merchant, Tab::Overview, by),
        asks: preview.asks,
        facts: preview.facts,
        action: format!("{here}/{}", preview.action),
        does: preview.does.to_owned(),
        is_grave: preview.is_grave,
        command: format!("backhaul {before} --merchant {} {after}", merchant.handle),
        back: here,
    }
    .show()
}

fn back_to(merchant: &Merchant, kept: &Return) -> Response {
    see(&return_at(&merchant.handle, &kept.identifier))
}

fn units(kept: &Return) -> String {
    match kept.items.len() {
        1 => "1 unit".to_owned(),
        units => format!("{units} units"),
    }
}

pub(super) async fn ask_to_cancel(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    kept.rma.clone().cancel().map_err(CancelReturnError::Refused)?;
    let preview = Preview {
        asks: format!("Cancel the return {}?", kept.identifier),
        facts: vec![
            ("Cancelled", format!("{} of the order {}; they can be returned again", units(&kept), kept.order)),
            ("The label", "is given back to the carrier if it was bought".to_owned()),
            ("The merchant", "is told with a message, and the shopper with a mail".to_owned()),
            ("Undone", "It cannot be undone. The shopper can start a new return.".to_owned()),
        ],
        action: "cancel",
        does: "Cancel the return",
        is_grave: true,
        command: ("returns cancel", kept.identifier.clone()),
    };
    ask(&by, &merchant, &kept, preview)
}

pub(super) async fn cancel(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    cancel_return(&by.app, &by.actor(), merchant.id, &kept.identifier, BY_OPERATOR).await?;
    Ok(back_to(&merchant, &kept))
}

pub(super) async fn ask_to_resend(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    let preview = Preview {
        asks: format!("Send the state of {} again?", kept.identifier),
        facts: vec![
            ("Sent", "1 new message to the merchant, rma.resent, with the return as it is now".to_owned()),
            ("The shopper", "is not told".to_owned()),
            ("Undone", "A message that was sent cannot be taken back.".to_owned()),
        ],
        action: "resend",
        does: "Send the state again",
        is_grave: false,
        command: ("returns resend", kept.identifier.clone()),
    };
    ask(&by, &merchant, &kept, preview)
}

pub(super) async fn resend(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    resend_return(&by.app, &by.actor(), merchant.id, &kept.identifier).await?.ok_or(ConsoleError::NotFound)?;
    Ok(back_to(&merchant, &kept))
}

pub(super) async fn ask_to_confirm(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    if !kept.rma.is_in_question() {
        return Err(ConfirmRefundError::NothingInQuestion.into());
    }
    let refund = kept.units().find(|(unit, _)| unit.in_question).and_then(|(_, item)| item.refund.clone()).unwrap_or_default();
    let preview = Preview {
        asks: format!("Confirm the refund of {}?", kept.identifier),
        facts: vec![
            (
                "Confirmed",
                format!("the refund {refund}, which the merchant reported while the exchange order was owed, is the shopper's money"),
            ),
            ("First", "Ask the merchant. If the refund only settled the exchange, the shopper is still owed the money.".to_owned()),
            ("The merchant", "is told with a message, and the shopper with a mail".to_owned()),
            ("Undone", "It cannot be undone.".to_owned()),
        ],
        action: "confirm-refund",
        does: "Confirm the refund",
        is_grave: true,
        command: ("returns confirm-refund", kept.identifier.clone()),
    };
    ask(&by, &merchant, &kept, preview)
}

pub(super) async fn confirm(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    confirm_refund(&by.app, &by.actor(), merchant.id, &kept.identifier).await?;
    Ok(back_to(&merchant, &kept))
}

pub(super) async fn ask_for_label(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    let preview = Preview {
        asks: format!("Order the label of {} again?", kept.identifier),
        facts: vec![
            ("Bought", "1 label from the merchant's carrier, with the address that the order has now".to_owned()),
            ("The case", "on the work list is closed, and opens again if the carrier refuses".to_owned()),
            ("Undone", "A label that is not used is given back when the return is cancelled.".to_owned()),
        ],
        action: "label",
        does: "Order the label again",
        is_grave: false,
        command: ("returns label", kept.identifier.clone()),
    };
    ask(&by, &merchant, &kept, preview)
}

pub(super) async fn label(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    order_label(&by.app, &by.actor(), merchant.id, &kept.identifier).await?;
    Ok(back_to(&merchant, &kept))
}

/// The addresses of a mail's pages.
type AtMail = (String, String, Uuid);

pub(super) async fn ask_to_mail(by: By<Support>, Path((handle, rma, mail)): Path<AtMail>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &(handle, rma)).await?;
    let sent = log::find(by.app.store(merchant.id), merchant.id, mail).await?;
    let sent = sent.filter(|sent| sent.subject == kept.identifier).ok_or(ConsoleError::NotFound)?;
    if sent.state() == State::Owed {
        return Err(ResendMailError::StillOwed.into());
    }
    let name = sent.event.trim_start_matches("mail.").replace('_', " ");
    let preview = Preview {
        asks: format!("Send the mail “{name}” again?"),
        facts: vec![
            ("Sent", format!("1 mail on {} to the shopper, with the same content and to the same address as before", kept.identifier)),
            ("First sent", written_at(mail).format("%Y-%m-%d %H:%M UTC").to_string()),
            ("Undone", "A mail that was sent cannot be taken back.".to_owned()),
        ],
        action: &format!("mails/{mail}"),
        does: "Send the mail again",
        is_grave: false,
        command: ("mails resend", mail.to_string()),
    };
    ask(&by, &merchant, &kept, preview)
}

pub(super) async fn mail(by: By<Support>, Path((handle, rma, mail)): Path<AtMail>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &(handle, rma)).await?;
    let sent = log::find(by.app.store(merchant.id), merchant.id, mail).await?;
    sent.filter(|sent| sent.subject == kept.identifier).ok_or(ConsoleError::NotFound)?;
    resend_mail(&by.app, &by.actor(), merchant.id, mail).await?;
    Ok(back_to(&merchant, &kept))
}

/// A refusal in words: what happened, and that nothing was done.
fn refused(error: &impl std::fmt::Display) -> ConsoleError {
    ConsoleError::Refused(format!("{}. Nothing was done.", sentence(&error.to_string())))
}

impl From<CancelReturnError> for ConsoleError {
    fn from(error: CancelReturnError) -> Self {
        match error {
            CancelReturnError::NoSuchReturn => Self::NotFound,
            CancelReturnError::Refused(_) => refused(&error),
            CancelReturnError::Failed(failed) => failed.into(),
        }
    }
}

impl From<ConfirmRefundError> for ConsoleError {
    fn from(error: ConfirmRefundError) -> Self {
        match error {
            ConfirmRefundError::NoSuchReturn => Self::NotFound,
            ConfirmRefundError::NothingInQuestion => refused(&error),
            ConfirmRefundError::Failed(failed) => failed.into(),
        }
    }
}

impl From<OrderLabelError> for ConsoleError {
    fn from(error: OrderLabelError) -> Self {
        match error {
            OrderLabelError::NoSuchReturn => Self::NotFound,
            OrderLabelError::Cancelled
            | OrderLabelError::Refunded
            | OrderLabelError::Kept
            | OrderLabelError::Labelled
            | OrderLabelError::NoCarrier => refused(&error),
            OrderLabelError::Failed(failed) => failed.into(),
        }
    }
}

impl From<ResendMailError> for ConsoleError {
    fn from(error: ResendMailError) -> Self {
        match error {
            ResendMailError::NoSuchMail => Self::NotFound,
            ResendMailError::Erased | ResendMailError::StillOwed | ResendMailError::Link | ResendMailError::OtherVersion => refused(&error),
            ResendMailError::Failed(failed) => failed.into(),
        }
    }
}
