//! The carrier's answer to the purchase of a label: the label goes on its return, or a refusal on the operator's work list.

use domain::returns::label::{BELIEVED_FROM, LabelState, REFUSED};
use domain::returns::rma::{Status, TrackingNumber};
use domain::returns::work::WorkKind;
use store::returns::label_orders::{self, LabelOrder};
use store::returns::labels::{self, Label};
use store::returns::rmas::{self, Return};
use store::returns::work_items::{self, WorkItem};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::returns::label::BoughtLabel;

use super::carrier_event::{self, Labelled};
use super::label_work::{fetch_code, void_label};
use crate::app::App;
use crate::delivery::reaction::{Ending, Followed, How, Reacting, Reaction};

/// The reaction to a carrier's answer to a purchase.
pub struct LabelAnswered(pub App);

impl Reaction for LabelAnswered {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            match &ending.how {
                How::Delivered(_, answer) => apply(&self.0, tx, answer).await.map(|()| Followed::Settled),
                How::Refused(_) if ending.number >= BELIEVED_FROM => {
                    let words = String::from_utf8_lossy(&ending.refusal);
                    refuse(&self.0, tx, ending.message, &format!("The carrier refuses the label: {words}")).await
                }
                How::Refused(_) | How::GivenUp => Ok(Followed::Settled),
            }
        })
    }

    fn handles_refusal(&self, status: u16) -> bool {
        status == REFUSED
    }
}

/// Puts a label that was bought on its return. A repeat changes nothing.
async fn apply(app: &App, tx: &mut Tx, answer: &[u8]) -> Result<(), Failed> {
    let unreadable = || Failed::Internal("a carrier's label cannot be read");
    let bought = BoughtLabel::read(answer).ok_or_else(unreadable)?;
    let tracking_number: TrackingNumber = bought.tracking_number.parse().map_err(|_| unreadable())?;
    let Some(mut kept) = rmas::lock(tx, &bought.reference).await? else { return Ok(()) };
    match kept.rma.status {
        // Whoever ended the return has requested that the label be voided.
        Status::Cancelled => return Ok(()),
        Status::Refunded if !kept.rma.is_labelled() => return Ok(()),
        Status::Created | Status::PartialRefund | Status::Refunded => {}
    }
    let number = bought.number;
    match carrier_event::label(app, tx, &mut kept, &tracking_number).await? {
        Labelled::Done => {
            let pdf = bought.pdf().ok_or_else(unreadable)?;
            let tracking_number = tracking_number.as_str();
            let cost = bought.price.as_ref().map(|price| (price.cents, price.currency.as_str()));
            let label = Label { tracking_number, carrier: &bought.carrier, shipment: &bought.shipment, cost, pdf: &pdf };
            if labels::insert(tx, kept.id, &label, app.now()).await? {
                fetch_code(app, tx, &kept, number).await?;
            }
            label_orders::save(tx, kept.id, &LabelOrder { number, state: LabelState::Bought }, app.now()).await
        }
        Labelled::Unwanted => {
            label_orders::save(tx, kept.id, &LabelOrder { number, state: LabelState::Withdrawn }, app.now()).await?;
            void_label(app, tx, &kept, number).await
        }
        Labelled::NumberTaken => {
            void_label(app, tx, &kept, number).await?;
            let why =
                format!("The carrier sold the tracking number {tracking_number}, which another return still uses. The label is voided.");
            open_case(app, tx, &kept, number, &why).await
        }
    }
}

/// Ends a purchase that the carrier refuses. It becomes a case on the work list, unless the return no longer needs the label.
async fn refuse(app: &App, tx: &mut Tx, message: Uuid, why: &str) -> Result<Followed, Failed> {
    let Some(identifier) = label_orders::of_message(tx, message).await? else { return Ok(Followed::Settled) };
    let Some(kept) = rmas::lock(tx, &identifier).await? else { return Ok(Followed::Settled) };
    if kept.rma.is_live() && !kept.rma.is_labelled() {
        let number = label_orders::find(tx, kept.id).await?.map_or(1, |order| order.number);
        open_case(app, tx, &kept, number, why).await?;
    }
    Ok(Followed::Withdrawn)
}

async fn open_case(app: &App, tx: &mut Tx, kept: &Return, number: u32, why: &str) -> Result<(), Failed> {
    label_orders::save(tx, kept.id, &LabelOrder { number, state: LabelState::Refused }, app.now()).await?;
    let (id, opened_at) = (app.mint(), app.now());
    let item = WorkItem { id, kind: WorkKind::LabelRefused, subject: kept.identifier.clone(), reason: why.to_owned(), opened_at };
    work_items::open(tx, &item).await
}
