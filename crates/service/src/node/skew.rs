//! The difference between this node's clock and the database's. A node that is far off must not do what goes by the clock: deliver,
//! remind, expire.

use chrono::{DateTime, TimeDelta, Utc};

use crate::node::Parts;

/// The largest allowed difference.
pub const MOST: TimeDelta = TimeDelta::milliseconds(500);

/// Returns the difference, positive if the database is ahead, and publishes it as a metric. The database read its clock at some time
/// between query and answer, so that interval does not count. `None` for the clock of a test, which stands apart on purpose; a
/// sandbox's clock that was moved does not matter, because the machines are compared.
#[must_use]
pub fn measure(node: &Parts, asked_at: DateTime<Utc>, database: DateTime<Utc>, answered_at: DateTime<Utc>) -> Option<TimeDelta> {
    if !node.clock.is_the_machines() {
        return None;
    }
    let skew = between(asked_at, database, answered_at);
    node.metrics.clock_skew_seconds.of(node.place().label()).set(skew.as_seconds_f64());
    Some(skew)
}

fn between(asked_at: DateTime<Utc>, database: DateTime<Utc>, answered_at: DateTime<Utc>) -> TimeDelta {
    database - database.clamp(asked_at, answered_at.max(asked_at))
}

/// The node's view of its own clock: right, until it is more than [`MOST`] off, and then wrong, until it is less than half of that off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    pub is_off: bool,
}

impl Trust {
    /// The view after a measurement.
    #[must_use]
    pub fn after(self, skew: Option<TimeDelta>) -> Self {
        let most = if self.is_off { MOST / 2 } else { MOST };
        Self { is_off: skew.is_some_and(|skew| skew.abs() > most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_the_answer_took_is_no_difference() {
        let asked_at: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let millis = TimeDelta::milliseconds;
        for (database, took, skew) in
            [(0, 0, 0), (500, 0, 500), (501, 0, 501), (-500, 0, -500), (-501, 0, -501), (900, 900, 0), (1_401, 900, 501), (5, -3, 5)]
        {
            assert_eq!(between(asked_at, asked_at + millis(database), asked_at + millis(took)), millis(skew), "{database} {took}");
        }
    }

    #[test]
    fn a_clock_is_trusted_again_when_it_is_well_within_the_limit() {
        let mut trust = Trust::default();
        for (millis, is_off) in
            [(500, false), (-500, false), (501, true), (300, true), (-251, true), (250, false), (400, false), (-501, true)]
        {
            trust = trust.after(Some(TimeDelta::milliseconds(millis)));
            assert_eq!(trust.is_off, is_off, "{millis}");
        }
        assert!(!trust.after(None).is_off);
    }
}
