//! The lines that a node logs about refused requests: so many in a second, so that nobody fills the disk by being refused.
//!
//! Requests of strangers, of callers that are known, and security events have a bound each, so that strangers do not crowd out the
//! others. Whatever is left out is counted, and the count is logged in the next second.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The lines about strangers' requests in a second.
pub const OF_STRANGERS: u32 = 20;
/// The lines about the requests of callers that are known in a second.
pub const OF_KNOWN: u32 = 100;
/// The lines about security events that refuse something in a second.
pub const OF_SECURITY: u32 = 100;

/// The bounds of a node.
#[derive(Debug)]
pub struct LogLines {
    strangers: Bound,
    known: Bound,
    security: Bound,
}

impl Default for LogLines {
    fn default() -> Self {
        Self { strangers: Bound::new(OF_STRANGERS), known: Bound::new(OF_KNOWN), security: Bound::new(OF_SECURITY) }
    }
}

impl LogLines {
    /// Whether a line may be logged about a request that was refused at `uptime`.
    pub fn admit(&self, caller_is_known: bool, uptime: Duration) -> bool {
        if caller_is_known { self.known.admit(uptime) } else { self.strangers.admit(uptime) }
    }

    /// Whether a line may be logged about a security event that refused something at `uptime`.
    pub fn admit_security(&self, uptime: Duration) -> bool {
        self.security.admit(uptime)
    }

    /// Logs how many lines were left out before the second of `uptime`, if any were.
    pub fn tell(&self, uptime: Duration) {
        let [strangers, known, security] = [&self.strangers, &self.known, &self.security].map(|bound| bound.take(uptime));
        if strangers + known + security > 0 {
            tracing::warn!(strangers, known, security, "left out log lines about refused requests");
        }
    }
}

/// A bound on the lines of one kind.
#[derive(Debug)]
struct Bound {
    most: u32,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    second: u64,
    logged: u32,
    left_out: u64,
    /// Left out in earlier seconds, and not told yet.
    untold: u64,
}

impl Counted {
    /// Begins another second.
    fn turn(&mut self, second: u64) {
        if self.second != second {
            *self = Self { second, logged: 0, left_out: 0, untold: self.untold + self.left_out };
        }
    }
}

impl Bound {
    fn new(most: u32) -> Self {
        Self { most, counted: Mutex::default() }
    }

    fn admit(&self, uptime: Duration) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.turn(uptime.as_secs());
        let admitted = counted.logged < self.most;
        if admitted {
            counted.logged += 1;
        } else {
            counted.left_out += 1;
        }
        admitted
    }

    /// The lines that were left out before this second, which are told now.
    fn take(&self, uptime: Duration) -> u64 {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.turn(uptime.as_secs());
        std::mem::take(&mut counted.untold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_so_many_lines_and_the_rest_is_counted() {
        let (bound, at) = (Bound::new(2), Duration::from_secs(7));
        assert_eq!([1, 2, 3, 4, 5].map(|_| bound.admit(at)), [true, true, false, false, false]);
        assert_eq!(bound.take(at), 0, "the second is not over");
        let next = at + Duration::from_secs(1);
        assert!(bound.admit(next));
        assert_eq!((bound.take(next), bound.take(next)), (3, 0), "told once");
    }

    #[test]
    fn strangers_do_not_crowd_out_callers_that_are_known() {
        let (lines, at) = (LogLines::default(), Duration::ZERO);
        let logged = (0..1_000).filter(|_| lines.admit(false, at)).count();
        assert_eq!(logged, OF_STRANGERS as usize);
        assert!(lines.admit(true, at) && lines.admit_security(at));
    }
}
