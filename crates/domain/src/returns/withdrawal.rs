//! The period in which a consumer may withdraw from a distance contract, in the European Union and the European Economic Area.
//!
//! **For review by counsel.** These rules are an engineer's reading of Directive 2011/83/EU, Articles 9 and 10, and of Regulation
//! (EEC, Euratom) No 1182/71 on periods:
//!
//! - The period is open from the order on. It ends 14 days after the day on which the *last* goods of the order arrived.
//! - The day of arrival does not count. The period ends with the last hour of its last day.
//! - A last day on a Saturday, a Sunday or a public holiday moves to the next working day ([`holidays`]).
//!
//! Where the law leaves room or facts are missing, the rules favour the consumer. Not covered: the twelve months more of a consumer
//! who was not told of the right (Article 10), goods that are delivered regularly over time, and exempted goods (Article 16).
//!
//! All days are calendar days in the consumer's country; [`Country::zones`] says in which time zones they begin and end.

mod country;
mod easter;
pub mod exemption;
pub mod holidays;

use std::collections::BTreeSet;

use chrono::{Days, NaiveDate};

pub use self::country::{Country, NoCountry, Zones};
use self::holidays::is_working_day;
use super::rma::identifier::Identifier;

/// The days from shipping to delivery of a merchant that says nothing else, where nobody reports the delivery.
pub const TRANSIT_DAYS: u16 = 7;
/// Days after the day on which the last goods arrived.
const DAYS: Days = Days::new(14);

/// Goods of an order that arrive together: a line that is not cancelled or, if it was sent in parts, such a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goods {
    /// The day of delivery, as the merchant gave it.
    pub delivered_on: Option<NaiveDate>,
    /// The day of delivery, as the carrier reported it.
    pub carrier_delivered_on: Option<NaiveDate>,
    /// `None` until the goods are shipped.
    pub shipped_on: Option<NaiveDate>,
}

impl Goods {
    /// The day of arrival: the merchant's word, or else the carrier's, or else as many days after shipping as the merchant allows for
    /// transit. `None` if the goods have not been shipped.
    fn arrived_on(&self, transit_days: u16) -> Option<NaiveDate> {
        let expected = || self.shipped_on?.checked_add_days(Days::new(u64::from(transit_days)));
        self.delivered_on.or(self.carrier_delivered_on).or_else(expected)
    }
}

/// The period of withdrawal of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Open, with no end yet: some goods have not been shipped.
    Open,
    /// Open until the end of this day, which is a working day.
    Until(NaiveDate),
}

impl Period {
    /// True if the consumer can withdraw on this day.
    #[must_use]
    pub fn includes(self, day: NaiveDate) -> bool {
        match self {
            Self::Open => true,
            Self::Until(last) => day <= last,
        }
    }
}

/// The period of withdrawal of an order with these goods. An order without goods has no end either; it has nothing to withdraw from.
#[must_use]
pub fn period(country: Country, goods: &[Goods], transit_days: u16) -> Period {
    let arrivals: Option<BTreeSet<NaiveDate>> = goods.iter().map(|goods| goods.arrived_on(transit_days)).collect();
    let counted = arrivals.and_then(|days| days.last()?.checked_add_days(DAYS));
    let end = counted.and_then(|day| day.iter_days().find(|day| is_working_day(country, *day)));
    end.map_or(Period::Open, Period::Until)
}

/// Makes the reference of a statement of withdrawal, `W-XXXX-XXXX`, from 64 random bits.
#[must_use]
pub fn reference(bits: u64) -> String {
    Identifier::from_random(bits).as_str().replacen('R', "W", 1)
}

/// True if consumers in the country have the right of withdrawal. The code is as merchants write it, such as `DE` or `DEU`.
#[must_use]
pub fn concerns(country_code: &str) -> bool {
    country_code.parse::<Country>().is_ok()
}

#[cfg(test)]
mod tests;
