//! The rule that decides which snapshot of an order is current.
//!
//! An order message carries the whole order as of its `updated_at`. Messages overtake each other and are repeated; the newest
//! snapshot wins, and of two with the same time, the one that arrives later.

use chrono::{DateTime, Utc};

/// Tells the content of a snapshot from others: equal digests are the same content. Different digests are different contents if both are
/// [`of_content`]. Otherwise one may be from before there were any: it is the SHA-256 of the snapshot's bytes, and says nothing about
/// the same content in another spelling.
pub type Digest = [u8; 32];

/// The beginning of digests of contents. The SHA-256 of a text begins with it by accident once in four billion times. Another way to tell contents
/// apart needs another beginning, because digests that begin alike are compared without a look at the contents.
pub const CONTENT: [u8; 4] = *b"CNT2";

/// The digest of a content with this hash.
#[must_use]
pub fn of_content(mut hash: [u8; 32]) -> Digest {
    hash.iter_mut().zip(CONTENT).for_each(|(byte, mark)| *byte = mark);
    hash
}

/// The version of an order's snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// As the merchant reported it.
    pub updated_at: DateTime<Utc>,
    pub digest: Digest,
}

/// The verdict on a snapshot that the upsert did not apply over `stored`: one that seems to be an update is the same content in
/// another spelling.
#[must_use]
pub fn judge_unapplied(stored: Option<&Version>, arriving: &Version) -> Verdict {
    match judge(stored, arriving) {
        Verdict::Created | Verdict::Updated | Verdict::Unchanged => Verdict::Unchanged,
        Verdict::Stale => Verdict::Stale,
    }
}

/// The decision about an arriving snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Created,
    Updated,
    Unchanged,
    /// Older than the stored snapshot, which is kept.
    Stale,
}

/// Compares an `arriving` snapshot with the `stored` one.
///
/// The store's upsert carries the same rule in SQL, because it must be decided under the row's lock; a test drives
/// both with the same histories. The upsert also compares the content of snapshots with the same time if their digests do not tell.
#[must_use]
pub fn judge(stored: Option<&Version>, arriving: &Version) -> Verdict {
    match stored {
        None => Verdict::Created,
        Some(stored) if stored.digest == arriving.digest => Verdict::Unchanged,
        Some(stored) if arriving.updated_at < stored.updated_at => Verdict::Stale,
        Some(_) => Verdict::Updated,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(second: i64, content: u8) -> Version {
        Version { updated_at: DateTime::from_timestamp(second, 0).expect("in range"), digest: [content; 32] }
    }

    #[test]
    fn a_snapshot_is_judged_by_its_content_and_then_by_its_time() {
        let stored = version(10, 1);
        assert_eq!(judge(None, &stored), Verdict::Created);
        assert_eq!(judge(Some(&stored), &stored), Verdict::Unchanged);
        assert_eq!(judge(Some(&stored), &version(9, 2)), Verdict::Stale);
        assert_eq!(judge(Some(&stored), &version(11, 2)), Verdict::Updated);
        assert_eq!(judge(Some(&stored), &version(10, 2)), Verdict::Updated);
        // Equal content has equal times, since the time is part of it. If that ever failed, the snapshot would not be stored.
        assert_eq!(judge(Some(&stored), &version(11, 1)), Verdict::Unchanged);
    }

    #[test]
    fn what_the_upsert_did_not_apply_is_stale_if_it_is_older_and_otherwise_the_same_content() {
        let stored = version(10, 1);
        assert_eq!(judge_unapplied(Some(&stored), &version(9, 2)), Verdict::Stale);
        for arriving in [stored, version(10, 2), version(11, 2)] {
            assert_eq!(judge_unapplied(Some(&stored), &arriving), Verdict::Unchanged);
        }
    }

    /// The stored version after `arrivals`, in order.
    fn stored_after(arrivals: &[Version]) -> Option<Version> {
        arrivals.iter().fold(None, |stored, arriving| match judge(stored.as_ref(), arriving) {
            Verdict::Created | Verdict::Updated => Some(*arriving),
            Verdict::Unchanged | Verdict::Stale => stored,
        })
    }

    proptest! {
        #[test]
        fn in_whatever_order_snapshots_arrive_the_newest_stands(arrivals in prop::collection::vec(0..8_u8, 0..40)) {
            // Each time has one content here, so repeats are true repeats.
            let arrivals: Vec<Version> = arrivals.into_iter().map(|number| version(i64::from(number), number)).collect();
            prop_assert_eq!(stored_after(&arrivals), arrivals.into_iter().max_by_key(|version| version.updated_at));
        }

        #[test]
        fn of_snapshots_with_one_time_the_last_arrival_stands(contents in prop::collection::vec(any::<u8>(), 0..20)) {
            let arrivals: Vec<Version> = contents.into_iter().map(|content| version(0, content)).collect();
            prop_assert_eq!(stored_after(&arrivals), arrivals.last().copied());
        }

        #[test]
        fn a_snapshot_sent_again_at_once_is_unchanged_or_stale(arrivals in prop::collection::vec((0..4_i64, any::<u8>()), 1..20)) {
            let arrivals: Vec<Version> = arrivals.into_iter().map(|(second, content)| version(second, content)).collect();
            let last = arrivals.last().expect("there is one");
            prop_assert!(matches!(judge(stored_after(&arrivals).as_ref(), last), Verdict::Unchanged | Verdict::Stale));
        }
    }
}
