//! The three axes of a return: its status, and for its units the parcel and the receiving.

use domain::returns::rma::{Receiving, Status};
use store::returns::rmas::Return;

/// A place on an axis: its class, and its words.
pub(super) type Place = (&'static str, String);

/// The three axes. An axis without places does not apply.
pub(super) struct Axes {
    pub(super) status: Vec<Place>,
    pub(super) parcel: Vec<Place>,
    pub(super) receiving: Vec<Place>,
}

const WAY: [&str; 4] = ["PRE_TRANSIT", "ACCEPTED", "TRANSIT", "DELIVERED"];
const ASTRAY: [&str; 3] = ["NOT_DROPPED_OFF", "RETURNED", "FAILURE"];

impl Axes {
    pub(super) fn of(kept: &Return) -> Self {
        let units = &kept.rma.units;
        let parcels: Vec<&str> = units.iter().filter_map(|unit| unit.parcel.as_str()).collect();
        let received: Vec<&str> = units.iter().filter_map(|unit| unit.receiving.map(Receiving::as_str)).collect();
        let receiving = [Receiving::Pending.as_str(), Receiving::Received.as_str()];
        Self {
            status: status(kept.rma.status),
            parcel: axis(&WAY, &ASTRAY, &parcels),
            receiving: axis(&receiving, &[Receiving::NotReceived.as_str()], &received),
        }
    }
}

fn status(now: Status) -> Vec<Place> {
    if now == Status::Cancelled {
        return vec![("past", Status::Created.to_string()), ("here", now.to_string())];
    }
    let way = [Status::Created, Status::PartialRefund, Status::Refunded];
    let class = |one: Status| match one.cmp(&now) {
        std::cmp::Ordering::Less => "past",
        std::cmp::Ordering::Equal => "here",
        std::cmp::Ordering::Greater => "",
    };
    way.into_iter().map(|one| (class(one), one.to_string())).collect()
}

/// The places of `way`, and those beside it at which units are.
fn axis(way: &[&str], beside: &[&str], units: &[&str]) -> Vec<Place> {
    if units.is_empty() {
        return Vec::new();
    }
    let count = |place: &str| units.iter().filter(|unit| **unit == place).count();
    let furthest = way.iter().rposition(|place| count(place) > 0);
    let counted = |place: &str| if units.len() > 1 { format!("{place} · {}", count(place)) } else { place.to_owned() };
    let on_the_way = way.iter().enumerate().map(|(at, place)| match (count(place), furthest) {
        (0, Some(furthest)) if at < furthest => ("past", (*place).to_owned()),
        (0, _) => ("", (*place).to_owned()),
        (_, _) => ("here", counted(place)),
    });
    on_the_way.chain(beside.iter().filter(|place| count(place) > 0).map(|place| ("alt", counted(place)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_at_several_places_are_counted_and_passed_places_are_told() {
        let places = axis(&WAY, &ASTRAY, &["TRANSIT", "TRANSIT", "FAILURE"]);
        let told: Vec<(&str, &str)> = places.iter().map(|(class, words)| (*class, words.as_str())).collect();
        assert_eq!(
            told,
            [("past", "PRE_TRANSIT"), ("past", "ACCEPTED"), ("here", "TRANSIT · 2"), ("", "DELIVERED"), ("alt", "FAILURE · 1")]
        );
        assert_eq!(axis(&WAY, &ASTRAY, &[]), []);
        assert_eq!(status(Status::PartialRefund).iter().map(|(class, _)| *class).collect::<Vec<_>>(), ["past", "here", ""]);
        assert_eq!(status(Status::Cancelled).last().map(|(class, _)| *class), Some("here"));
    }
}
