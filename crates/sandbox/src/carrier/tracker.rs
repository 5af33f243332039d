//! A parcel's tracker and its statuses.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::time::text;

/// The most reports a tracker keeps; the oldest are dropped first.
const MOST_DETAILS: usize = 100;

/// A parcel's tracking status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Unknown,
    /// A label exists, but the carrier does not have the parcel.
    PreTransit,
    InTransit,
    OutForDelivery,
    Delivered,
    AvailableForPickup,
    ReturnToSender,
    /// The parcel is lost or damaged.
    Failure,
}

/// The error for a word that is not a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such status")]
pub struct NoStatus;

impl Status {
    /// Every status.
    pub const ALL: [Self; 8] = [
        Self::Unknown,
        Self::PreTransit,
        Self::InTransit,
        Self::OutForDelivery,
        Self::Delivered,
        Self::AvailableForPickup,
        Self::ReturnToSender,
        Self::Failure,
    ];

    /// The status as it appears in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::PreTransit => "pre_transit",
            Self::InTransit => "in_transit",
            Self::OutForDelivery => "out_for_delivery",
            Self::Delivered => "delivered",
            Self::AvailableForPickup => "available_for_pickup",
            Self::ReturnToSender => "return_to_sender",
            Self::Failure => "failure",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Unknown => "Nothing is known about the parcel",
            Self::PreTransit => "The label was created",
            Self::InTransit => "The parcel was scanned",
            Self::OutForDelivery => "The parcel is out for delivery",
            Self::Delivered => "The parcel was delivered",
            Self::AvailableForPickup => "The parcel can be collected",
            Self::ReturnToSender => "The parcel is returning to its sender",
            Self::Failure => "The parcel is lost",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for Status {
    type Err = NoStatus;

    fn from_str(word: &str) -> Result<Self, NoStatus> {
        Self::ALL.into_iter().find(|status| status.word() == word).ok_or(NoStatus)
    }
}

/// Words that make a parcel move by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magic {
    Transit,
    Delivered,
    Lost,
}

impl Magic {
    const ALL: [Self; 3] = [Self::Transit, Self::Delivered, Self::Lost];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Transit => "SIM-TRANSIT",
            Self::Delivered => "SIM-DELIVERED",
            Self::Lost => "SIM-LOST",
        }
    }

    /// The scans of the parcel, in order.
    pub(super) fn play(self) -> &'static [Status] {
        match self {
            Self::Transit => &[Status::InTransit],
            Self::Delivered => &[Status::InTransit, Status::Delivered],
            Self::Lost => &[Status::InTransit, Status::Failure],
        }
    }

    /// The magic word at the start of a tracking number.
    pub(super) fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|magic| code.starts_with(magic.word()))
    }

    /// The magic word anywhere in a text.
    pub(super) fn asked_for(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|magic| text.contains(magic.word()))
    }
}

/// One parcel and its reports.
pub(super) struct Tracker {
    pub(super) id: String,
    pub(super) code: String,
    pub(super) status: Status,
    pub(super) shipment: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    details: Vec<(Status, DateTime<Utc>)>,
}

impl Tracker {
    pub(super) fn new(id: String, code: String, shipment: Option<String>, status: Status, now: DateTime<Utc>) -> Self {
        Self { id, code, status, shipment, created_at: now, updated_at: now, details: vec![(status, now)] }
    }

    /// Records a new status.
    pub(super) fn report(&mut self, status: Status, now: DateTime<Utc>) {
        self.status = status;
        self.updated_at = now;
        if self.details.len() == MOST_DETAILS {
            self.details.remove(0);
        }
        self.details.push((status, now));
    }

    pub(super) fn json(&self) -> Value {
        let details: Vec<Value> = self.details.iter().map(|(status, at)| detail(*status, *at)).collect();
        json!({
            "id": self.id,
            "object": "Tracker",
            "mode": "test",
            "tracking_code": self.code,
            "status": self.status.word(),
            "shipment_id": self.shipment,
            "carrier": "SimCarrier",
            "created_at": text(self.created_at),
            "updated_at": text(self.updated_at),
            "tracking_details": details,
        })
    }
}

fn detail(status: Status, at: DateTime<Utc>) -> Value {
    json!({"object": "TrackingDetail", "status": status.word(), "message": status.message(), "datetime": text(at), "source": "SimCarrier"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_it_is_written() {
        for status in Status::ALL {
            assert_eq!(status.word().parse(), Ok(status));
        }
        assert_eq!("lost".parse::<Status>(), Err(NoStatus));
    }

    #[test]
    fn magic_is_asked_for_anywhere_and_plays_at_the_beginning_of_a_number() {
        assert_eq!(Magic::asked_for("Ada SIM-LOST Lovelace"), Some(Magic::Lost));
        assert_eq!(Magic::asked_for("Ada Lovelace"), None);
        assert_eq!(Magic::of_code("SIM-DELIVERED-1"), Some(Magic::Delivered));
        assert_eq!(Magic::of_code("NO-SIM-DELIVERED"), None);
        assert_eq!(Magic::of_code("SIM123"), None);
    }

    #[test]
    fn only_the_newest_reports_are_kept() {
        let mut tracker = Tracker::new("trk_1".to_owned(), "SIM1".to_owned(), None, Status::PreTransit, DateTime::UNIX_EPOCH);
        for _ in 0..MOST_DETAILS {
            tracker.report(Status::InTransit, DateTime::UNIX_EPOCH);
        }
        let details = tracker.json()["tracking_details"].clone();
        assert_eq!(details.as_array().unwrap().len(), MOST_DETAILS);
        assert_eq!(details[0]["status"], "in_transit");
    }
}
