//! The carrier's book of shipments and trackers, with a bound on the number of each.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::shipment::{Purchase, Shipment, rates};
use super::time::text;
use super::tracker::{Magic, Status, Tracker};

/// All shipments and trackers of one carrier.
pub(super) struct Book {
    /// Makes the ids of one carrier differ from those of another.
    salt: [u8; 32],
    /// The most shipments, and the most trackers, to remember; the oldest are forgotten first.
    most: usize,
    last_number: u64,
    last_time: DateTime<Utc>,
    /// By number, so that the oldest is the first.
    shipments: BTreeMap<u64, Shipment>,
    ids: HashMap<String, u64>,
    /// Several shipments may have one reference; the oldest is the first.
    references: HashMap<String, VecDeque<u64>>,
    trackers: HashMap<String, Tracker>,
    /// The tracking numbers, oldest first.
    tracked: VecDeque<String>,
}

/// The input for a new shipment.
pub(super) struct Draft {
    pub(super) reference: Option<String>,
    pub(super) is_return: bool,
    pub(super) to_address: Value,
    pub(super) from_address: Value,
    pub(super) parcel: Value,
    pub(super) ounces: f64,
}

/// The reasons a purchase, a form or a refund can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    NoShipment,
    NoRate,
    Bought,
    Void,
    NoForm,
    Refunded,
    NotBought,
}

/// A tracker's new state, to be sent as a webhook.
pub(super) struct Report {
    pub(super) code: String,
    pub(super) event: Value,
}

impl Book {
    pub(super) fn new(salt: &[u8], most: usize) -> Self {
        Self {
            salt: Sha256::digest(salt).into(),
            most,
            last_number: 0,
            last_time: DateTime::UNIX_EPOCH,
            shipments: BTreeMap::new(),
            ids: HashMap::new(),
            references: HashMap::new(),
            trackers: HashMap::new(),
            tracked: VecDeque::new(),
        }
    }

    pub(super) fn shipments(&self) -> impl Iterator<Item = &Shipment> {
        self.shipments.values()
    }

    /// Finds a shipment by id, or the oldest with this reference.
    pub(super) fn find(&self, name: &str) -> Option<&Shipment> {
        self.shipments.get(&self.number(name)?)
    }

    pub(super) fn tracker(&self, code: &str) -> Option<&Tracker> {
        self.trackers.get(code)
    }

    pub(super) fn json(&self, shipment: &Shipment) -> Value {
        let tracker = shipment.purchase.as_ref().and_then(|purchase| self.tracker(&purchase.tracking_code));
        shipment.json(tracker)
    }

    pub(super) fn create(&mut self, draft: Draft) -> Value {
        let now = self.now();
        let id = self.id("shp");
        let shipment = Shipment {
            rates: rates(draft.ounces, &id, || self.id("rate")),
            id,
            reference: draft.reference,
            is_return: draft.is_return,
            to_address: draft.to_address,
            from_address: draft.from_address,
            parcel: draft.parcel,
            purchase: None,
            forms: Vec::new(),
            is_refunded: false,
            created_at: now,
            updated_at: now,
        };
        let json = shipment.json(None);
        self.last_number += 1;
        let number = self.last_number;
        self.ids.insert(shipment.id.clone(), number);
        if let Some(reference) = &shipment.reference {
            self.references.entry(reference.clone()).or_default().push_back(number);
        }
        self.shipments.insert(number, shipment);
        if self.shipments.len() > self.most {
            self.forget_the_oldest();
        }
        json
    }

    /// Buys a label. Returns the shipment, and the reports of a parcel that moves by itself.
    pub(super) fn buy(&mut self, name: &str, rate: &str, server: &str) -> Result<(Value, Vec<Report>), Refused> {
        let shipment = self.find(name).ok_or(Refused::NoShipment)?;
        match (&shipment.purchase, shipment.is_refunded) {
            (None, _) => {}
            (Some(_), false) => return Err(Refused::Bought),
            (Some(_), true) => return Err(Refused::Void),
        }
        let (id, magic) = (shipment.id.clone(), shipment.magic());
        let rate = shipment.rate(rate).ok_or(Refused::NoRate)?.clone();
        let now = self.now();
        let code = self.tracking_code(magic);
        let label = json!({
            "id": self.id("pl"),
            "object": "PostageLabel",
            "label_url": format!("{server}/labels/{id}.pdf"),
            "label_file_type": "application/pdf",
            "label_size": "4x6",
            "label_resolution": 300,
            "label_date": text(now),
            "created_at": text(now),
            "updated_at": text(now),
        });
        let tracker = Tracker::new(self.id("trk"), code.clone(), Some(id.clone()), Status::PreTransit, now);
        self.remember(tracker);
        let shipment = self.change(&id).ok_or(Refused::NoShipment)?;
        shipment.purchase = Some(Purchase { tracking_code: code.clone(), rate, label });
        shipment.updated_at = now;
        let json = self.find(&id).map(|shipment| self.json(shipment)).ok_or(Refused::NoShipment)?;
        Ok((json, self.play(&code)))
    }

    /// Adds a form to a bought shipment. Only QR codes are on sale.
    pub(super) fn form(&mut self, name: &str, kind: &str, server: &str) -> Result<Value, Refused> {
        let (now, id) = (self.now(), self.id("form"));
        let shipment = self.change(name).ok_or(Refused::NoShipment)?;
        if !matches!(kind, "label_qr_code" | "rma_qr_code") || !shipment.sells_qr_code() {
            return Err(Refused::NoForm);
        }
        shipment.forms.push(json!({
            "id": id,
            "object": "Form",
            "mode": "test",
            "form_type": kind,
            "form_url": format!("{server}/qr_codes/{}.png", shipment.id),
            "submitted_electronically": null,
            "created_at": text(now),
            "updated_at": text(now),
        }));
        shipment.updated_at = now;
        self.find(name).map(|shipment| self.json(shipment)).ok_or(Refused::NoShipment)
    }

    pub(super) fn refund(&mut self, name: &str) -> Result<Value, Refused> {
        let now = self.now();
        let shipment = self.change(name).ok_or(Refused::NoShipment)?;
        if shipment.purchase.is_none() {
            return Err(Refused::NotBought);
        }
        if shipment.is_refunded {
            return Err(Refused::Refunded);
        }
        shipment.is_refunded = true;
        shipment.updated_at = now;
        self.find(name).map(|shipment| self.json(shipment)).ok_or(Refused::NoShipment)
    }

    /// Returns the tracker of a number, or creates it. A new parcel with a magic number moves by itself.
    pub(super) fn track(&mut self, code: &str) -> (Value, Vec<Report>) {
        if let Some(tracker) = self.tracker(code) {
            return (tracker.json(), Vec::new());
        }
        let now = self.now();
        let tracker = Tracker::new(self.id("trk"), code.to_owned(), None, Status::Unknown, now);
        let json = tracker.json();
        self.remember(tracker);
        (json, self.play(code))
    }

    /// Scans a parcel. `None` if the number is unknown.
    pub(super) fn scan(&mut self, code: &str, status: Status) -> Option<Report> {
        let now = self.now();
        let id = self.id("evt");
        let tracker = self.trackers.get_mut(code)?;
        tracker.report(status, now);
        let event = json!({
            "id": id,
            "object": "Event",
            "description": "tracker.updated",
            "mode": "test",
            "created_at": text(now),
            "result": tracker.json(),
        });
        Some(Report { code: code.to_owned(), event })
    }

    fn play(&mut self, code: &str) -> Vec<Report> {
        let play = Magic::of_code(code).map_or(&[][..], Magic::play);
        play.iter().filter_map(|status| self.scan(code, *status)).collect()
    }

    fn change(&mut self, name: &str) -> Option<&mut Shipment> {
        let number = self.number(name)?;
        self.shipments.get_mut(&number)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.ids.get(name).or_else(|| self.references.get(name)?.front()).copied()
    }

    fn forget_the_oldest(&mut self) {
        let Some((_, oldest)) = self.shipments.pop_first() else { return };
        self.ids.remove(&oldest.id);
        if let Some(reference) = oldest.reference
            && let Some(numbers) = self.references.get_mut(&reference)
        {
            numbers.pop_front();
            if numbers.is_empty() {
                self.references.remove(&reference);
            }
        }
    }

    fn remember(&mut self, tracker: Tracker) {
        self.tracked.push_back(tracker.code.clone());
        self.trackers.insert(tracker.code.clone(), tracker);
        if self.tracked.len() > self.most
            && let Some(oldest) = self.tracked.pop_front()
        {
            self.trackers.remove(&oldest);
        }
    }

    /// Makes an unused tracking number.
    fn tracking_code(&mut self, magic: Option<Magic>) -> String {
        loop {
            let number = self.digest().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            let digits = number % 10_000_000_000_000_000;
            let code = match magic {
                None => format!("SIM{digits:016}"),
                Some(magic) => format!("{}-{digits:016}", magic.word()),
            };
            if !self.trackers.contains_key(&code) {
                return code;
            }
        }
    }

    fn id(&mut self, kind: &str) -> String {
        let digest = self.digest();
        digest.iter().take(16).fold(format!("{kind}_"), |mut id, byte| {
            // Writing to a string cannot fail.
            let _ = write!(id, "{byte:02x}");
            id
        })
    }

    fn digest(&mut self) -> [u8; 32] {
        self.last_number += 1;
        Sha256::new().chain_update(self.salt).chain_update(self.last_number.to_be_bytes()).finalize().into()
    }

    /// The current time, strictly increasing, so that later reports have later times.
    #[expect(clippy::disallowed_methods, reason = "a carrier is another machine, with a clock of its own")]
    fn now(&mut self) -> DateTime<Utc> {
        self.last_time = Utc::now().max(self.last_time + TimeDelta::microseconds(1));
        self.last_time
    }
}

#[cfg(test)]
mod tests;
