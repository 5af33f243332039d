//! The checker of deliveries: compares the messages owed, the calls received and the final state of the database.
//!
//! Every message must be accepted or be in the failure queue. Within a subject, messages must first be accepted in order of
//! their sequence. Every call must carry exactly the bytes of its message, however often it is repeated.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use uuid::Uuid;

/// The SHA-256 of a body.
pub(crate) type Digest = [u8; 32];

/// A message committed by a flow.
#[derive(Clone, Debug)]
pub(crate) struct Owed {
    pub(crate) id: Uuid,
    pub(crate) subject: u64,
    pub(crate) sequence: i64,
    pub(crate) digest: Digest,
}

/// A call received by the simulated systems.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Its place in the order of arrival.
    pub(crate) number: u64,
    pub(crate) id: Uuid,
    pub(crate) digest: Digest,
    /// Set if it was answered with success.
    pub(crate) accepted: bool,
}

/// The final state of the database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    /// Messages still owed.
    pub(crate) waiting: HashSet<Uuid>,
    /// Messages in the failure queue.
    pub(crate) failed: HashSet<Uuid>,
}

/// The faulty messages, and the number of repeated acceptances, which are allowed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Neither accepted nor in the failure queue, or still waiting.
    pub(crate) lost: BTreeSet<Uuid>,
    /// First accepted before its predecessor.
    pub(crate) inverted: BTreeSet<Uuid>,
    /// Received with other bytes than were owed, or never owed.
    pub(crate) altered: BTreeSet<Uuid>,
    pub(crate) duplicates: usize,
}

impl Findings {
    fn all(&self) -> BTreeSet<Uuid> {
        self.lost.iter().chain(&self.inverted).chain(&self.altered).copied().collect()
    }
}

/// Compares the messages owed with the calls received and the database.
pub(crate) fn check(owed: &[Owed], arrivals: &[Arrival], stored: &Stored) -> Findings {
    let mut findings = Findings::default();
    let digests: HashMap<Uuid, &Digest> = owed.iter().map(|owed| (owed.id, &owed.digest)).collect();
    let mut first: HashMap<Uuid, u64> = HashMap::new();
    for arrival in arrivals {
        if digests.get(&arrival.id).is_none_or(|digest| **digest != arrival.digest) {
            findings.altered.insert(arrival.id);
        }
        if arrival.accepted {
            let number = first.entry(arrival.id).or_insert_with(|| {
                findings.duplicates = findings.duplicates.wrapping_sub(1);
                arrival.number
            });
            *number = (*number).min(arrival.number);
            findings.duplicates = findings.duplicates.wrapping_add(1);
        }
    }
    let mut subjects: BTreeMap<u64, Vec<&Owed>> = BTreeMap::new();
    for owed in owed {
        let accepted = first.contains_key(&owed.id);
        if stored.waiting.contains(&owed.id) || !(accepted || stored.failed.contains(&owed.id)) {
            findings.lost.insert(owed.id);
        }
        subjects.entry(owed.subject).or_default().push(owed);
    }
    for messages in subjects.values_mut() {
        messages.sort_by_key(|owed| owed.sequence);
        let mut latest = 0;
        for owed in messages {
            // A message that was given up does not block its subject, and a lost one is reported above.
            if let Some(number) = first.get(&owed.id).filter(|_| !stored.failed.contains(&owed.id)) {
                if *number < latest {
                    findings.inverted.insert(owed.id);
                }
                latest = latest.max(*number);
            }
        }
    }
    findings
}

/// The number of seeded faults, the same for each kind.
pub(crate) const SEEDED: usize = 20;

/// Falsifies a copy of the history in [`SEEDED`] places, one at a time: losses, swapped bodies, inversions and altered bytes
/// in turn. Returns how many the checker finds at the right message.
pub(crate) fn seed(owed: &[Owed], arrivals: &[Arrival], stored: &Stored, rng: &mut StdRng) -> usize {
    let clean = check(owed, arrivals, stored).all();
    let mut firsts: Vec<&Owed> =
        owed.iter().filter(|owed| owed.sequence == 1 && !stored.failed.contains(&owed.id) && !clean.contains(&owed.id)).collect();
    firsts.shuffle(rng);
    let mut caught = 0;
    for (at, first) in firsts.iter().take(SEEDED).enumerate() {
        let next = owed.iter().find(|owed| owed.subject == first.subject && owed.sequence == 2);
        let mut falsified = arrivals.to_vec();
        match (at % 4, next) {
            (1, Some(next)) => falsified.iter_mut().for_each(|arrival| {
                if arrival.id == first.id {
                    arrival.digest = next.digest;
                } else if arrival.id == next.id {
                    arrival.digest = first.digest;
                }
            }),
            (2, Some(next)) => falsified.iter_mut().for_each(|arrival| {
                if arrival.id == first.id {
                    arrival.id = next.id;
                    arrival.digest = next.digest;
                } else if arrival.id == next.id {
                    arrival.id = first.id;
                    arrival.digest = first.digest;
                }
            }),
            (3, _) => {
                if let Some(digit) = falsified.iter_mut().find(|arrival| arrival.id == first.id).and_then(|it| it.digest.first_mut()) {
                    *digit ^= 1;
                }
            }
            _ => falsified.retain(|arrival| arrival.id != first.id),
        }
        let found = check(owed, &falsified, stored);
        let hit = |set: &BTreeSet<Uuid>| set.contains(&first.id) || next.is_some_and(|next| set.contains(&next.id));
        caught += usize::from(match (at % 4, next) {
            (1, Some(_)) | (3, _) => hit(&found.altered),
            (2, Some(_)) => hit(&found.inverted),
            _ => hit(&found.lost),
        });
    }
    caught
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn id(subject: u64, sequence: i64) -> Uuid {
        Uuid::from_u128(u128::from(subject) << 64 | u128::from(sequence.unsigned_abs()))
    }

    fn owed(subject: u64, sequence: i64) -> Owed {
        Owed {
            id: id(subject, sequence),
            subject,
            sequence,
            digest: [u8::try_from(subject * 10).unwrap() + u8::try_from(sequence).unwrap(); 32],
        }
    }

    fn arrival(number: u64, of: &Owed, accepted: bool) -> Arrival {
        Arrival { number, id: of.id, digest: of.digest, accepted }
    }

    /// Two messages for each of two subjects, all accepted in order, some after a failure.
    fn history() -> (Vec<Owed>, Vec<Arrival>) {
        let owed = vec![owed(1, 1), owed(1, 2), owed(2, 1), owed(2, 2)];
        let order = [(0, false), (2, true), (0, true), (3, true), (1, true)];
        let arrivals = order.iter().zip(1..).map(|((at, accepted), number)| arrival(number, &owed[*at], *accepted)).collect();
        (owed, arrivals)
    }

    #[test]
    fn nothing_is_found_in_a_history_in_order() {
        let (owed, arrivals) = history();
        assert_eq!(check(&owed, &arrivals, &Stored::default()), Findings::default());
    }

    #[test]
    fn a_duplicate_with_the_same_bytes_is_counted_and_allowed_even_after_a_later_message() {
        let (owed, mut arrivals) = history();
        arrivals.push(arrival(6, &owed[0], true));
        let found = check(&owed, &arrivals, &Stored::default());
        assert_eq!((found.duplicates, found.all().len()), (1, 0));
    }

    #[test]
    fn a_message_that_never_arrived_was_refused_or_still_waits_is_lost() {
        let (owed, arrivals) = history();
        let gone: Vec<Arrival> = arrivals.iter().filter(|arrival| arrival.id != id(2, 2)).cloned().collect();
        assert_eq!(check(&owed, &gone, &Stored::default()).lost, BTreeSet::from([id(2, 2)]));
        let refused: Vec<Arrival> =
            arrivals.iter().map(|arrival| Arrival { accepted: arrival.accepted && arrival.id != id(1, 1), ..arrival.clone() }).collect();
        assert_eq!(check(&owed, &refused, &Stored::default()).lost, BTreeSet::from([id(1, 1)]));
        let waiting = Stored { waiting: HashSet::from([id(1, 2)]), ..Stored::default() };
        assert_eq!(check(&owed, &arrivals, &waiting).lost, BTreeSet::from([id(1, 2)]));
    }

    #[test]
    fn a_message_in_the_failure_queue_is_not_lost_and_its_subject_goes_on() {
        let (owed, arrivals) = history();
        let failed = Stored { failed: HashSet::from([id(1, 1)]), ..Stored::default() };
        let others: Vec<Arrival> = arrivals.into_iter().filter(|arrival| arrival.id != id(1, 1)).collect();
        assert_eq!(check(&owed, &others, &failed), Findings::default());
    }

    #[test]
    fn a_message_accepted_before_its_predecessor_is_an_inversion() {
        let (owed, mut arrivals) = history();
        arrivals[3].number = 1;
        assert_eq!(check(&owed, &arrivals, &Stored::default()).inverted, BTreeSet::from([id(2, 2)]));
    }

    #[test]
    fn a_refused_arrival_out_of_order_is_no_inversion() {
        let (owed, mut arrivals) = history();
        arrivals.push(Arrival { number: 0, ..arrival(0, &owed[1], false) });
        assert_eq!(check(&owed, &arrivals, &Stored::default()).all().len(), 0);
    }

    #[test]
    fn other_bytes_and_unknown_ids_are_altered_even_when_refused() {
        let (owed, mut arrivals) = history();
        arrivals[0].digest = [0; 32];
        arrivals.push(Arrival { id: Uuid::from_u128(9), ..arrivals[1].clone() });
        assert_eq!(check(&owed, &arrivals, &Stored::default()).altered, BTreeSet::from([id(1, 1), Uuid::from_u128(9)]));
    }

    #[test]
    fn every_seeded_fault_is_found() {
        let owed: Vec<Owed> = (1..=24).flat_map(|subject| [owed(subject, 1), owed(subject, 2)]).collect();
        let arrivals: Vec<Arrival> = owed.iter().zip(1..).map(|(owed, number)| arrival(number, owed, true)).collect();
        assert_eq!(seed(&owed, &arrivals, &Stored::default(), &mut StdRng::seed_from_u64(1)), SEEDED);
    }
}
