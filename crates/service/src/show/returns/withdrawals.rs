//! Statements of withdrawal as they are shown, and what is known of the contract.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use domain::returns::rma::eligibility::is_gift;
use domain::returns::rma::policy::Policy;
use domain::returns::rma::sale::{Sale, SoldLine};
use domain::returns::withdrawal::{Country, Goods, Period, period};
use store::Failed;
use store::returns::withdrawals::{Matched, Withdrawal};
use wire::orders::order::OrderIn;
use wire::returns::withdrawal::{Statement, WithdrawalOut, WithdrawnGoods};
use wire::time;

use crate::platform::words::Words;
use crate::shops::Shop;

/// The days that a consumer has to send the goods back, and the merchant to refund them. **For review by counsel:** Directive
/// 2011/83/EU, Articles 13 and 14.
pub(crate) const SENT_BACK_WITHIN: TimeDelta = TimeDelta::days(14);

/// A statement in the words that the shopper confirms.
pub(crate) struct Wording {
    /// The sentence that withdraws.
    pub(crate) sentence: String,
    /// The facts, each with its name.
    pub(crate) facts: Vec<(String, String)>,
}

impl Wording {
    /// Puts a statement into words. `sale` is its order, if the shopper has shown that it is theirs.
    pub(crate) fn of(words: Words, shop: &Shop, statement: &Statement, sale: Option<&Sale>) -> Self {
        let text = |key: &str| words.language.text(key);
        let order = sale.map_or(&statement.order, |sale| &sale.identifier).clone();
        let contents = match sale.filter(|_| statement.words.is_empty()) {
            Some(sale) => units(sale, shop, statement).map(|(line, quantity)| titled(words, line, quantity)).collect::<Vec<_>>().join("; "),
            None => statement.words.clone(),
        };
        let what = match (statement.part, contents) {
            (true, contents) => contents,
            (false, contents) if contents.is_empty() => text("withdraw-all"),
            (false, contents) => words.language.text_with("withdraw-all-of", [("goods", contents.into())]),
        };
        let ordered = sale.map(|sale| (text("withdraw-ordered"), words.day_of_year(sale.placed_at)));
        let facts = [
            Some((text("withdraw-name-label"), statement.name.clone())),
            Some((text("withdraw-order-label"), order)),
            Some((text("withdraw-goods-label"), what)),
            ordered,
            Some((text("withdraw-email-label"), statement.email.clone())),
        ];
        Self {
            sentence: words.language.text_with("withdraw-statement", [("shop", shop.name.as_str().into())]),
            facts: facts.into_iter().flatten().collect(),
        }
    }

    /// The statement as it is kept.
    pub(crate) fn written(&self) -> String {
        let facts = self.facts.iter().map(|(name, value)| format!("{name}: {value}"));
        [self.sentence.clone()].into_iter().chain(facts).collect::<Vec<_>>().join("\n")
    }
}

fn titled(words: Words, line: &SoldLine, units: u32) -> String {
    let title = line.title.as_deref().unwrap_or(&line.sku);
    if units < 2 {
        return title.to_owned();
    }
    words.language.text_with("bill-units", [("title", title.into()), ("units", units.into())])
}

/// The units that a statement withdraws from, by line. Exempt goods and cancelled ones are not among them.
pub(crate) fn units<'a>(sale: &'a Sale, shop: &'a Shop, statement: &'a Statement) -> impl Iterator<Item = (&'a SoldLine, u32)> {
    withdrawn(sale, shop, statement.part.then_some(&*statement.goods))
}

/// The units of a statement about these goods, or about the whole order.
pub(crate) fn withdrawn<'a>(
    sale: &'a Sale,
    shop: &'a Shop,
    goods: Option<&'a [WithdrawnGoods]>,
) -> impl Iterator<Item = (&'a SoldLine, u32)> {
    let units = move |line: &SoldLine| match goods {
        None => line.ordered(),
        Some(goods) => goods
            .iter()
            .find(|goods| goods.order_line_item_identifier == line.identifier)
            .map_or(0, |goods| goods.quantity.min(line.ordered())),
    };
    let free = |line: &&SoldLine| shop.exemptions.ground(sale, line).is_none();
    sale.lines.iter().filter(free).map(move |line| (line, units(line))).filter(|(_, units)| *units > 0)
}

/// The way back of the goods of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayBack {
    /// The shopper sends them back.
    ByShopper,
    /// They were a gift, so the shopper who withdraws does not have them.
    Gift,
    /// Nothing of them was shipped.
    Nothing,
}

impl WayBack {
    /// The way back of these goods, or of the whole order.
    pub(crate) fn of(sale: &Sale, shop: &Shop, policy: &Policy, goods: Option<&[WithdrawnGoods]>) -> Self {
        if !withdrawn(sale, shop, goods).any(|(line, _)| line.shipped > 0) {
            Self::Nothing
        } else if is_gift(sale, policy) {
            Self::Gift
        } else {
            Self::ByShopper
        }
    }
}

/// What is known of a contract at `now`: whether the period of withdrawal is open, and until when. Neither is known for an order to
/// another country.
pub(crate) fn matched(shop: &Shop, order: &OrderIn<'_>, sale: &Sale, now: DateTime<Utc>) -> Result<Matched, Failed> {
    let code = order.shipping_address.as_ref().or(order.billing_address.as_ref()).and_then(|address| address.country_code.as_ref());
    let country = code.and_then(|code| code.0.parse::<Country>().ok());
    let (last_day, in_time) = match country {
        None => (None, None),
        Some(country) => {
            let zone = |name: &str| name.parse::<Tz>().map_err(|_| Failed::Internal("a country's time zone is unknown"));
            let (arrives, ends) = (zone(country.zones().arrives)?, zone(country.zones().ends)?);
            let period = period(country, &goods(sale, arrives), shop.transit_days);
            let last_day = match period {
                Period::Open => None,
                Period::Until(day) => Some(day),
            };
            (last_day, Some(period.includes(day_in(ends, now))))
        }
    };
    Ok(Matched { order: sale.identifier.clone(), last_day, in_time })
}

/// The goods of an order, with the days on which they were shipped and arrived.
fn goods(sale: &Sale, zone: Tz) -> Vec<Goods> {
    let mut goods = Vec::new();
    for line in sale.lines.iter().filter(|line| line.ordered() > 0) {
        if line.shipped > 0 {
            goods.push(Goods {
                delivered_on: line.delivered_at.map(|time| day_in(zone, time)),
                carrier_delivered_on: None,
                shipped_on: Some(day_in(zone, line.shipped_at.unwrap_or(sale.placed_at))),
            });
        }
        if line.shipped < line.ordered() {
            goods.push(Goods::default());
        }
    }
    goods
}

fn day_in(zone: Tz, time: DateTime<Utc>) -> NaiveDate {
    time.with_timezone(&zone).date_naive()
}

/// Reads the chosen units of a stored statement.
pub(crate) fn chosen(withdrawal: &Withdrawal) -> Option<Vec<WithdrawnGoods>> {
    withdrawal.goods.as_deref().and_then(|goods| serde_json::from_str(goods).ok())
}

/// A statement as merchants read it.
pub(crate) fn shown(withdrawal: Withdrawal) -> WithdrawalOut {
    WithdrawalOut {
        goods: chosen(&withdrawal),
        reference: withdrawal.reference,
        received_at: time::write(withdrawal.received_at),
        language: withdrawal.language,
        name: withdrawal.name,
        email: withdrawal.email,
        order_words: withdrawal.order_words,
        statement: withdrawal.statement,
        order_identifier: withdrawal.order,
        last_day: withdrawal.last_day.map(|day| day.to_string()),
        in_time: withdrawal.in_time,
        rma_identifier: withdrawal.rma,
    }
}
