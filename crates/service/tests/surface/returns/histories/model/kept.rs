//! A return in the model.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::super::step::{Start, line_name, order_name};
use super::super::view::{Return, Unit};

/// The states of a parcel that is still with the shopper.
pub(super) const STAYS: [Option<&str>; 3] = [None, Some("PRE_TRANSIT"), Some("NOT_DROPPED_OFF")];

/// A partial drop-off: its event, its time, and its units by line.
pub(super) type DropOff = (&'static str, i64, Vec<(usize, u32)>);

/// A return, with the state that a view does not show.
#[derive(Clone)]
pub struct Kept {
    pub shown: Return,
    pub order: usize,
    pub method: &'static str,
    pub(super) created_at: DateTime<Utc>,
    /// The time of the reminder, unless something happens before.
    pub(super) reminds_at: DateTime<Utc>,
    pub(super) reminded: bool,
    /// The exchange order is placed.
    pub(super) placed: bool,
    /// What the shopper knows.
    told: Told,
    /// True once a scan that names the return has come before its label.
    pub(super) scanned: bool,
    /// The partial drop-offs so far: event, time, and units of lines.
    pub(super) drop_offs: BTreeSet<DropOff>,
}

/// What the shopper of a return knows from the mails so far, or could know.
#[derive(Clone, Default, PartialEq, Eq)]
struct Told {
    labelled: bool,
    handed_over: bool,
    placed: bool,
    /// For each unit, whether it is exchanged.
    exchanged: Vec<bool>,
    /// For each unit, whether its money has been refunded.
    refunded: Vec<bool>,
}

impl Kept {
    /// The mails that a change sends. The confirmation leads to a label that comes within ten minutes. Nobody is told of refunds `of_nothing`.
    pub(super) fn tell(&mut self, event: &str, now: DateTime<Utc>, of_nothing: &[String]) -> Vec<&'static str> {
        let units = &self.shown.units;
        let told = Told {
            labelled: units.iter().any(|unit| unit.place.tracking.is_some()),
            handed_over: units.iter().any(|unit| !STAYS.contains(&unit.place.parcel.as_deref())),
            placed: self.placed,
            exchanged: units.iter().map(|unit| unit.got.is_exchange()).collect(),
            refunded: units.iter().map(|unit| unit.is_covered() && !unit.got.is_exchange()).collect(),
        };
        let before = std::mem::replace(&mut self.told, told);
        let (told, units) = (&self.told, &self.shown.units);
        let late = now >= self.created_at + TimeDelta::minutes(10);
        let new = |before: &[bool], now: &[bool]| before.iter().zip(now).any(|(before, now)| !before && *now);
        let paid = |unit: &Unit| unit.refund.as_ref().is_some_and(|refund| !of_nothing.contains(refund));
        let refunded: Vec<bool> = units.iter().zip(&told.refunded).map(|(unit, refunded)| *refunded && paid(unit)).collect();
        match event {
            "rma.created" => return vec!["mail.confirmed"],
            "rma.canceled" if self.shown.cancel_reason.as_deref() == Some("expired") => return vec!["mail.expired"],
            "rma.canceled" => return vec!["mail.cancelled"],
            "rma.resent" => return Vec::new(),
            _ => {}
        }
        let news = [
            (told.placed && !before.placed, "mail.exchange_placed"),
            (new(&told.exchanged, &before.exchanged), "mail.exchange_sold_out"),
            (told.labelled && !before.labelled && late && !told.handed_over && !self.scanned, "mail.label_ready"),
            (told.handed_over && !before.handed_over, "mail.on_its_way"),
            (new(&before.refunded, &refunded), "mail.refunded"),
        ];
        news.into_iter().filter_map(|(happened, mail)| happened.then_some(mail)).collect()
    }

    /// True once something has happened to the return that rules out cancelling it.
    pub fn is_held(&self) -> bool {
        self.scanned
            || self.shown.units.iter().any(|unit| {
                let arrived = unit.place.receiving.as_deref() == Some("RECEIVED");
                unit.refund.is_some() || unit.got.is_exchange() || arrived || !STAYS.contains(&unit.place.parcel.as_deref())
            })
    }

    /// True once another return may have its tracking number.
    pub(super) fn is_over(&self) -> bool {
        let ended = |parcel: Option<&str>| parcel == Some("DELIVERED") || parcel == Some("RETURNED");
        match self.shown.status.as_str() {
            "CANCELED" => true,
            "REFUNDED" => self.shown.units.iter().all(|unit| ended(unit.place.parcel.as_deref())),
            _ => false,
        }
    }

    /// The number of units of a line that a refund can still cover.
    pub fn open(&self, line: usize) -> u32 {
        if self.shown.status == "CANCELED" {
            return 0;
        }
        let open = self.shown.units.iter().filter(|unit| unit.line == line_name(line) && !unit.is_covered());
        u32::try_from(open.count()).unwrap()
    }

    /// True if the return is settled except for exchanged units, which the merchant may still settle with the service.
    pub fn has_exchanges_left(&self) -> bool {
        self.shown.status == "REFUNDED" && !self.shown.units.iter().all(Unit::is_covered)
    }

    /// The time of the reminder, or of the expiry once the shopper was reminded.
    pub(super) fn wakes_at(&self) -> Option<DateTime<Utc>> {
        let waits = self.method != "customer-keep" && self.shown.is_live() && !self.is_held();
        waits.then(|| if self.reminded { self.created_at + TimeDelta::days(30) } else { self.reminds_at })
    }

    /// Updates the status from the units, and names the event if it changed. A return is settled once there is at least one refund,
    /// every unit that is not exchanged is refunded, and no exchange is owed.
    pub(super) fn settle(&mut self) -> Option<&'static str> {
        let shown = &mut self.shown;
        let some = shown.units.iter().any(Unit::is_covered);
        let all = shown.units.iter().all(|unit| unit.is_covered() || unit.got.is_exchange());
        let owed = shown.units.iter().any(|unit| unit.got.is_exchange()) && !self.placed;
        if !shown.is_live() || !some {
            return None;
        }
        if all && !owed {
            "REFUNDED".clone_into(&mut shown.status);
            return Some("rma.refunded");
        }
        if !all && shown.closed && shown.status == "CREATED" {
            "PARTIAL_REFUND".clone_into(&mut shown.status);
            return Some("rma.partially_refunded");
        }
        None
    }

    pub(super) fn new(start: &Start, name: &str, now: DateTime<Utc>) -> Self {
        let shown = Return { name: name.to_owned(), order: order_name(start.order), status: "CREATED".to_owned(), ..Return::default() };
        Self {
            shown,
            order: start.order,
            method: start.method,
            created_at: now,
            reminds_at: now + TimeDelta::days(21),
            reminded: false,
            placed: false,
            told: Told::default(),
            scanned: false,
            drop_offs: BTreeSet::new(),
        }
    }
}
