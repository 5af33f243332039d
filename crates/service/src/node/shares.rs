//! Fair shares: an amount that many parties take from, of which no party gets all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use prometheus_client::metrics::gauge::Gauge;

use super::rate::Address;

/// A party that takes a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Party {
    Merchant(MerchantId),
    /// A caller of whom nothing but the address is known.
    Address(Address),
}

/// The most that may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub in_all: u64,
    pub by_one: u64,
}

impl Most {
    /// At most `in_all`, and by one party a quarter of that, but at least one.
    #[must_use]
    pub fn quartered(in_all: u64) -> Self {
        Self { in_all, by_one: in_all.div_ceil(4) }
    }
}

/// The limit that has been reached, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    InAll(u64),
    ForOne(u64),
}

/// The shares that are taken. The gauge follows their sum.
#[derive(Default)]
pub struct Shares {
    taken: Mutex<Taken>,
    gauge: Gauge,
}

#[derive(Default)]
struct Taken {
    in_all: u64,
    by: HashMap<Party, u64>,
}

/// A share, which counts until this is dropped.
pub struct Share {
    shares: Arc<Shares>,
    party: Party,
    amount: u64,
}

impl Shares {
    /// Shares of which `gauge` shows the sum.
    #[must_use]
    pub fn shown_by(gauge: Gauge) -> Self {
        Self { taken: Mutex::default(), gauge }
    }

    /// Takes `amount` for `party`, unless that exceeds the `most`.
    pub fn take(self: &Arc<Self>, party: Party, amount: u64, most: Most) -> Result<Share, Full> {
        let mut share = Share { shares: Arc::clone(self), party, amount: 0 };
        share.grow(amount, most)?;
        Ok(share)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// The amount that was taken.
    #[must_use]
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Takes `by` more, unless that exceeds the `most`.
    pub fn grow(&mut self, by: u64, most: Most) -> Result<(), Full> {
        let mut taken = self.shares.taken();
        let by_one = taken.by.get(&self.party).copied().unwrap_or_default();
        if by_one.saturating_add(by) > most.by_one {
            return Err(Full::ForOne(most.by_one));
        }
        if taken.in_all.saturating_add(by) > most.in_all {
            return Err(Full::InAll(most.in_all));
        }
        taken.in_all += by;
        taken.by.insert(self.party, by_one + by);
        self.shares.gauge.set(i64::try_from(taken.in_all).unwrap_or(i64::MAX));
        self.amount += by;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        taken.in_all = taken.in_all.saturating_sub(self.amount);
        // A party without a share is removed, so that the map never outgrows the shares.
        match taken.by.get_mut(&self.party) {
            Some(by_one) if *by_one > self.amount => *by_one -= self.amount,
            Some(_) | None => _ = taken.by.remove(&self.party),
        }
        self.shares.gauge.set(i64::try_from(taken.in_all).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn party(number: u8) -> Party {
        Party::Address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, number)).into())
    }

    #[test]
    fn no_party_gets_more_than_its_share() {
        let (shares, most) = (Arc::new(Shares::default()), Most::quartered(10));
        let first = shares.take(party(1), 2, most).expect("a share");
        let mut second = shares.take(party(1), 1, most).expect("a quarter, rounded up");
        assert_eq!(second.grow(1, most), Err(Full::ForOne(3)));
        let others: Vec<Share> = (2..=4).map(|number| shares.take(party(number), 2, most).expect("a share")).collect();
        assert_eq!(shares.take(party(5), 2, most).err(), Some(Full::InAll(10)), "nine are taken");
        assert_eq!((shares.gauge.get(), second.amount()), (9, 1));
        drop((first, others));
        second.grow(2, most).expect("there is room again");
        drop(second);
        assert_eq!((shares.gauge.get(), shares.taken().by.len()), (0, 0), "nobody is remembered");
    }
}
