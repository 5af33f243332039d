//! Invariants of exchanges: an order is exchanged once, and a unit is exchanged or refunded, never both.

use std::collections::BTreeMap;

use super::super::step::Step;
use super::super::view::exchanging::{Asked, Exchange};
use super::super::view::{Return, Unit, View};
use super::hold;

/// The exchanges seen so far, by order.
#[derive(Default)]
pub(super) struct Exchanges {
    asked: BTreeMap<String, Asked>,
    /// The status of every call, none where it is unknown.
    calls: BTreeMap<String, Vec<Option<i16>>>,
    seen: BTreeMap<String, Exchange>,
}

impl Exchanges {
    pub(super) fn follow(&mut self, step: &Step, view: &View) -> Result<(), String> {
        for asked in &view.asked {
            let before = self.asked.insert(asked.order.clone(), asked.clone());
            hold(before.is_none(), || format!("{} is asked for twice", asked.order))?;
            let started = view.returns.iter().find(|kept| kept.name == asked.name);
            started
                .map_or_else(|| Err(format!("{} is asked for, and is no return", asked.name)), |kept| is_what_comes_back(asked, kept))?;
        }
        for called in &view.called {
            self.calls.entry(called.order.clone()).or_default().push(called.status);
        }
        hold(self.asked.len() == view.exchanges.len(), || "not every exchange is asked for once".to_owned())?;
        for exchange in &view.exchanges {
            hold(self.asked.get(&exchange.order).is_some_and(|asked| asked.name == exchange.name), || {
                format!("{} is exchanged by {}, which nobody asked for", exchange.order, exchange.name)
            })?;
            self.goes_on(step, exchange)?;
        }
        for kept in &view.returns {
            let mut of_return = view.exchanges.iter().filter(|exchange| exchange.name == kept.name);
            agree(kept, of_return.next())?;
            hold(of_return.next().is_none(), || format!("{} has two exchange orders", kept.name))?;
        }
        for message in &view.messages {
            let shown = view.returns.iter().find(|kept| kept.name == message.name && kept.sequence == message.sequence);
            let same = shown.is_none_or(|kept| kept.units.iter().map(|unit| &unit.got).eq(&message.got));
            hold(same, || format!("{} has a message that differs from the return", message.name))?;
        }
        Ok(())
    }

    /// A final state stays, and an exchange ends without an operator only as the merchant's answers justify.
    fn goes_on(&mut self, step: &Step, now: &Exchange) -> Result<(), String> {
        let Some(before) = self.seen.insert(now.order.clone(), now.clone()) else {
            return hold(now.state == "pending", || format!("{} began as {}", now.order, now.state));
        };
        if before.state == now.state {
            return hold(before.identifier.is_none() || before.identifier == now.identifier, || {
                format!("the exchange order of {} is another one", now.order)
            });
        }
        let unnamed = before.state == "placed" && before.identifier.is_none() && matches!(step, Step::Convert(_));
        hold(before.state == "pending" || unnamed, || format!("the exchange of {} was {} and is {}", now.order, before.state, now.state))?;
        let calls = self.calls.get(&now.order).map(Vec::as_slice).unwrap_or_default();
        match (now.state.as_str(), step) {
            ("placed", Step::Answer(..)) => {
                hold(calls.last() == Some(&Some(200)), || format!("{} was placed without an answer", now.order))
            }
            ("converted", Step::Answer(..)) => {
                let refused = calls.iter().all(|status| status.is_some_and(|status| matches!(status, 409 | 410 | 422)));
                hold(refused, || format!("{} may be placed and is refunded", now.order))
            }
            ("converted", Step::Convert(_)) => {
                let given_up = before.failure.is_some_and(|(state, _)| state == "open");
                let abandoned = before.owed.is_none() && (unnamed || given_up);
                hold(abandoned, || format!("{} was converted and still owed", now.order))
            }
            _ => Err(format!("the exchange of {} is {} by {step:?}", now.order, now.state)),
        }
    }
}

/// The exchange order contains exactly the units that are exchanged.
fn is_what_comes_back(asked: &Asked, kept: &Return) -> Result<(), String> {
    let mut units: BTreeMap<(bool, &str), u32> = BTreeMap::new();
    for unit in kept.units.iter().filter(|unit| unit.got.is_exchange()) {
        *units.entry((unit.got.refund_type == "UNEVEN_EXCHANGE", &unit.line)).or_default() += 1;
    }
    let mut wanted: BTreeMap<(bool, &str), u32> = BTreeMap::new();
    for item in &asked.items {
        for (line, quantity) in &item.lines {
            *wanted.entry((item.bonus.is_some(), line)).or_default() += quantity;
        }
    }
    hold(units == wanted, || format!("{wanted:?} are asked for, and {units:?} come back for it"))?;
    let carded = kept.units.iter().filter(|unit| unit.got.refund_type == "UNEVEN_EXCHANGE").map(|unit| unit.got.estimated).sum::<i64>();
    let cards: i64 = asked.items.iter().filter(|item| item.bonus.is_some()).map(|item| item.unit_price).sum();
    hold(carded == cards, || format!("a gift card of {cards} is for {carded}"))
}

/// The units of a return match the state of its exchange.
fn agree(kept: &Return, exchange: Option<&Exchange>) -> Result<(), String> {
    let name = &kept.name;
    for Unit { got, fee, .. } in &kept.units {
        let paid = if got.is_exchange() {
            (got.service, got.shopper, *fee) == (got.estimated, 0, 0)
        } else {
            got.service == 0 && got.exchange_order.is_none() && got.shopper >= 0 && *fee >= 0 && got.shopper + fee == got.estimated
        };
        hold(paid, || format!("a unit of {name} is paid for otherwise than it must be: {got:?}, {fee}"))?;
    }
    let exchanged = || kept.units.iter().filter(|unit| unit.got.is_exchange());
    let state = exchange.map(|exchange| exchange.state.as_str());
    let as_it_is = match state {
        None | Some("converted") => exchanged().next().is_none(),
        Some("pending") => exchanged().next().is_some() && exchanged().all(|unit| unit.got.exchange_order.is_none()),
        Some(_) => {
            let identifier = exchange.and_then(|exchange| exchange.identifier.as_ref());
            exchanged().next().is_some() && exchanged().all(|unit| unit.got.exchange_order.as_ref() == identifier)
        }
    };
    hold(as_it_is, || format!("the units of {name} are not as its exchange, {state:?}"))?;
    hold(kept.status != "REFUNDED" || state != Some("pending"), || format!("{name} is settled while its exchange is owed"))?;
    hold(kept.status != "CANCELED" || matches!(state, None | Some("converted")), || format!("{name} is cancelled and exchanged"))
}
