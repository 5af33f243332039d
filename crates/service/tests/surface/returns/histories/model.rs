//! Returns as the documents describe them, in memory: lists of units, sharing none of the program's own rules.

mod carrying;
pub mod exchanging;
pub mod kept;
pub mod money;
mod publishing;
mod receiving;
pub mod starting;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use self::exchanging::Exchanged;
use self::kept::Kept;
use super::step::{Report, Snapshot, Step, line_name, refund_name};
use super::view::exchanging::{Asked, Called};
use super::view::{Message, Unit, View};
use crate::world::beginning;

/// The merchant's return policy.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the policy")]
pub struct Terms {
    pub managed_receiving: bool,
    /// The price of a return by mail.
    pub fee: i64,
    pub deducted: bool,
    /// The bonus on a gift card; none if the merchant offers no gift cards.
    pub bonus: Option<i64>,
    /// True if a 409, 410 or 422 ends an exchange order.
    pub refusals_are_final: bool,
    /// True if the first refund for a return settles all its units that are to be refunded.
    pub any_refund_closes: bool,
}

/// A merchant's orders and returns.
pub struct Model {
    pub terms: Terms,
    pub now: DateTime<Utc>,
    pub returns: Vec<Kept>,
    /// The current snapshots, with their text.
    pub orders: BTreeMap<usize, (Snapshot, String)>,
    /// By order and number.
    refunds: BTreeMap<(usize, u32), Recorded>,
    /// Reports that came before the label, with the return or tracking number that they wait for.
    early: Vec<(String, Report)>,
    /// The return that each tracking number belongs to.
    numbers: BTreeMap<usize, usize>,
    /// The return and the line that each license plate was received for.
    plates: BTreeMap<u32, (usize, String)>,
    keys: BTreeMap<u32, Used>,
    /// The exchange order of each original order.
    pub exchanges: BTreeMap<usize, Exchanged>,
    /// The messages of the current step.
    messages: Vec<Message>,
    mails: Vec<(String, String)>,
    asked: Vec<Asked>,
    called: Vec<Called>,
}

/// A refund as recorded.
#[derive(Clone, Default)]
struct Recorded {
    total: i64,
    /// The most units of each line that were ever stated.
    lines: BTreeMap<usize, u32>,
    /// Those of them that are in no return.
    outside: BTreeMap<usize, u32>,
    /// The return that it names.
    named: Option<String>,
}

/// A request made under an idempotency key, and the return that it started.
struct Used {
    at: DateTime<Utc>,
    request: String,
    started: usize,
}

impl Model {
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            now: beginning(),
            returns: Vec::new(),
            orders: BTreeMap::new(),
            refunds: BTreeMap::new(),
            early: Vec::new(),
            numbers: BTreeMap::new(),
            plates: BTreeMap::new(),
            keys: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            messages: Vec::new(),
            mails: Vec::new(),
            asked: Vec::new(),
            called: Vec::new(),
        }
    }

    /// Takes a step and returns the expected view. `name` is the name of the return that the step started, if any.
    pub fn take(&mut self, step: &Step, name: Option<&str>, looked_at: usize) -> View {
        self.messages.clear();
        self.mails.clear();
        self.asked.clear();
        self.called.clear();
        let outcome = match step {
            Step::Publish(snapshot) => self.publish(snapshot),
            Step::Start(start) => self.start(start, name),
            Step::Carry(report) => self.carry(report),
            Step::Receive(arrival) => self.receive(arrival),
            Step::Close(nth) => self.close(*nth),
            Step::Cancel(nth) => self.cancel(*nth),
            Step::Resend(nth) => self.resend(*nth),
            Step::Answer(nth, answer, last) => self.answer(*nth, *answer, *last),
            Step::Convert(nth) => self.convert(*nth).to_owned(),
            Step::Confirm(nth) => self.confirm(*nth),
            Step::Retry(nth) => self.retry(*nth).to_owned(),
            Step::Wait(_) => self.wake(),
        };
        for at in 0..self.returns.len() {
            self.returns[at].shown.wakes_at = self.returns[at].wakes_at();
        }
        self.view(outcome, looked_at)
    }

    fn view(&mut self, outcome: String, looked_at: usize) -> View {
        self.messages.sort_by(|a, b| (&a.name, a.sequence).cmp(&(&b.name, b.sequence)));
        self.mails.sort();
        let claimed = |kept: &Kept| {
            let claim = |unit: &Unit| (kept.shown.order.clone(), unit.line.clone(), unit.number);
            kept.shown.units.iter().map(claim).collect::<Vec<_>>()
        };
        let lines = self.orders.get(&looked_at).map_or(0, |(snapshot, _)| snapshot.lines.len());
        View {
            outcome,
            returns: self.returns.iter().map(|kept| kept.shown.clone()).collect(),
            messages: self.messages.clone(),
            mails: self.mails.clone(),
            asked: self.asked.clone(),
            called: self.called.clone(),
            questions: self
                .returns
                .iter()
                .map(|kept| &kept.shown)
                .filter(|shown| shown.is_in_question())
                .map(|shown| shown.name.clone())
                .collect(),
            exchanges: self.exchanges.values().map(|exchange| exchange.shown.clone()).collect(),
            claims: self.returns.iter().filter(|kept| kept.shown.status != "CANCELED").flat_map(claimed).collect(),
            returnable: (0..lines).map(|line| (line_name(line), self.free(looked_at, line))).collect(),
        }
    }

    /// The names of all returns, oldest first.
    pub fn names(&self) -> Vec<String> {
        self.returns.iter().map(|kept| kept.shown.name.clone()).collect()
    }

    /// Increments the sequence of a return and sends its message, and its shopper what is news to them.
    fn send(&mut self, nth: usize, event: &str) {
        let kept = &mut self.returns[nth];
        let of_nothing = self.refunds.iter().filter(|((order, _), record)| *order == kept.order && record.total == 0);
        let of_nothing: Vec<String> = of_nothing.map(|((_, number), _)| refund_name(*number)).collect();
        let mails = kept.tell(event, self.now, &of_nothing);
        self.mails.extend(mails.into_iter().map(|mail| (kept.shown.name.clone(), mail.to_owned())));
        let shown = &mut self.returns[nth].shown;
        shown.sequence += 1;
        self.messages.push(Message {
            name: shown.name.clone(),
            sequence: shown.sequence,
            event: event.to_owned(),
            status: shown.status.clone(),
            units: shown.units.iter().map(|unit| unit.place.clone()).collect(),
            got: shown.units.iter().map(|unit| unit.got.clone()).collect(),
        });
    }

    /// The units of a line that are in a return and not refunded.
    pub fn live(&self, order: usize, line: usize) -> u32 {
        let of_order = self.returns.iter().filter(|kept| kept.order == order && kept.shown.status != "CANCELED");
        let units = of_order.flat_map(|kept| &kept.shown.units).filter(|unit| unit.line == line_name(line) && !unit.is_covered());
        u32::try_from(units.count()).unwrap()
    }

    /// The units of a line that were refunded in returns.
    pub fn settled(&self, order: usize, line: usize) -> u32 {
        let of_order = self.returns.iter().filter(|kept| kept.order == order && kept.shown.status != "CANCELED");
        let units = of_order.flat_map(|kept| &kept.shown.units).filter(|unit| unit.line == line_name(line) && unit.is_covered());
        u32::try_from(units.count()).unwrap()
    }

    /// The units of a line that were refunded outside of any return.
    pub fn outside(&self, order: usize, line: usize) -> u32 {
        let of_order = self.refunds.iter().filter(|((of, _), _)| *of == order);
        of_order.filter_map(|(_, record)| record.outside.get(&line)).sum()
    }

    /// The units of a line that will never be shipped.
    pub fn cancelled(&self, order: usize, line: usize) -> u32 {
        let Some((snapshot, _)) = self.orders.get(&order) else { return 0 };
        let Some(sold) = snapshot.lines.get(line) else { return 0 };
        if snapshot.cancelled { sold.quantity - sold.shipped } else { sold.cancelled }
    }

    fn cancel(&mut self, nth: usize) -> String {
        let Some(kept) = self.returns.get(nth) else { return "no such return".to_owned() };
        if kept.shown.status == "CANCELED" {
            return "cancelled".to_owned();
        }
        if kept.is_held() {
            return "refused".to_owned();
        }
        self.mark_cancelled(nth, "by the test");
        "cancelled".to_owned()
    }

    fn mark_cancelled(&mut self, nth: usize, why: &str) {
        let shown = &mut self.returns[nth].shown;
        "CANCELED".clone_into(&mut shown.status);
        shown.cancel_reason = Some(why.to_owned());
        self.send(nth, "rma.canceled");
    }

    fn resend(&mut self, nth: usize) -> String {
        if nth >= self.returns.len() {
            return "no such return".to_owned();
        }
        self.send(nth, "rma.resent");
        "resent".to_owned()
    }

    fn wake(&mut self) -> String {
        for nth in 0..self.returns.len() {
            let kept = &mut self.returns[nth];
            if kept.wakes_at().is_none_or(|due| due > self.now) {
                continue;
            }
            if self.now < kept.created_at + TimeDelta::days(30) {
                kept.reminded = true;
                let name = kept.shown.name.clone();
                self.mails.push((name, "mail.reminder".to_owned()));
            } else {
                self.mark_cancelled(nth, "expired");
            }
        }
        "woken".to_owned()
    }
}
