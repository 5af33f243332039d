//! The carrier's answer to the request for a label's QR code: the code goes on the label. Without one, the label can still be printed,
//! so nobody has to do anything.

use domain::returns::label::{BELIEVED_FROM, REFUSED};
use store::returns::{labels, rmas};
use store::{Failed, Tx};
use wire::returns::label::LabelCode;

use crate::delivery::reaction::{Ending, Followed, How, Reacting, Reaction};

/// The reaction to a carrier's answer to the request for a QR code.
pub struct CodeAnswered;

impl Reaction for CodeAnswered {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            match &ending.how {
                How::Delivered(_, answer) => apply(tx, answer).await.map(|()| Followed::Settled),
                How::Refused(_) if ending.number < BELIEVED_FROM => Ok(Followed::Settled),
                How::Refused(_) | How::GivenUp => Ok(Followed::Withdrawn),
            }
        })
    }

    fn handles_refusal(&self, status: u16) -> bool {
        status == REFUSED
    }
}

/// Puts a QR code on its label. A repeat changes nothing.
async fn apply(tx: &mut Tx, answer: &[u8]) -> Result<(), Failed> {
    let unreadable = || Failed::Internal("a carrier's QR code cannot be read");
    let code = LabelCode::read(answer).ok_or_else(unreadable)?;
    let png = code.png().ok_or_else(unreadable)?;
    match rmas::lock(tx, &code.reference).await? {
        Some(kept) => labels::save_code(tx, kept.id, &code.shipment, &png).await,
        None => Ok(()),
    }
}
