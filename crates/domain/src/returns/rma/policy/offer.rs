//! A return method with its fee, and the operator's notation for it.

use std::fmt;
use std::str::FromStr;

use crate::money::Cents;
use crate::returns::rma::word::Method;

const DEDUCTED: &str = "deducted";

/// A return method, and its cost to the shopper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub method: Method,
    pub fee: Cents,
    /// The fee is deducted from the refund.
    pub deducted: bool,
}

/// The text is not a valid [`Offer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a return method like mail-back, mail-back:499 or mail-back:499:deducted, with the fee in cents")]
pub struct NoOffer;

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, fee, deducted } = self;
        match (fee.get(), deducted) {
            (0, false) => write!(f, "{method}"),
            (fee, false) => write!(f, "{method}:{fee}"),
            (fee, true) => write!(f, "{method}:{fee}:{DEDUCTED}"),
        }
    }
}

impl FromStr for Offer {
    type Err = NoOffer;

    fn from_str(text: &str) -> Result<Self, NoOffer> {
        let mut parts = text.split(':');
        let method = parts.next().and_then(|method| method.parse().ok()).ok_or(NoOffer)?;
        let fee = parts.next().map_or(Some(Cents::default()), cents).ok_or(NoOffer)?;
        let deducted = match (parts.next(), parts.next()) {
            (None, _) => false,
            (Some(DEDUCTED), None) => true,
            (Some(_), _) => return Err(NoOffer),
        };
        Ok(Self { method, fee, deducted })
    }
}

/// Digits only; a sign would be a mistake.
fn cents(text: &str) -> Option<Cents> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok().and_then(Cents::new)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_way_back_is_free_unless_it_has_a_fee() {
        let offer = |method, fee, deducted| Ok(Offer { method, fee: Cents::new(fee).unwrap_or_default(), deducted });
        assert_eq!("customer-keep".parse::<Offer>(), offer(Method::CustomerKeep, 0, false));
        assert_eq!("mail-back:499".parse::<Offer>(), offer(Method::MailBack, 499, false));
        assert_eq!("mail-back:499:deducted".parse::<Offer>(), offer(Method::MailBack, 499, true));
    }

    #[test]
    fn what_is_no_way_back_is_refused() {
        for text in ["", "mail", "mail-back:", "mail-back:4.99", "mail-back:-1", "mail-back:+1", "mail-back:1:no", "mail-back:1:deducted:"]
        {
            assert_eq!(text.parse::<Offer>(), Err(NoOffer), "{text}");
        }
        assert_eq!(format!("mail-back:{}", Cents::MAX + 1).parse::<Offer>(), Err(NoOffer));
    }

    proptest! {
        #[test]
        fn every_offer_is_read_as_it_is_written(method in prop::sample::select(Method::ALL), fee in 0..=Cents::MAX, deducted: bool) {
            let offer = Offer { method, fee: Cents::new(fee).unwrap_or_default(), deducted };
            prop_assert_eq!(offer.to_string().parse::<Offer>(), Ok(offer));
        }
    }
}
