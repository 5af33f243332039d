//! Attackers who guess e-mail addresses and postal codes of orders whose numbers they know or count up, from many addresses. All
//! limits are used up: of the addresses, of the orders, and of the merchant. The right pair must work all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, ensure};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinSet;

use super::attacker::{address, search};
use crate::messages::witness::SEED;
use crate::returns::portal::browser::{Browser, Page};
use crate::returns::portal::orders::{POSTCODE, email, publish};
use crate::stage::{Service, Stage};

/// The merchant whose orders are guessed.
const SHOP: usize = 0;
/// Its orders.
const ORDERS: u32 = 100;
/// Guesses at the same time.
const AT_A_TIME: u32 = 48;
/// The networks of those who guess, of those who use up the merchant's limit, and of the shoppers.
const GUESSING: u8 = 11;
const FLOODING: u8 = 12;
const SHOPPERS: u8 = 13;
/// The most misses of one address, and in the merchant's portal in a minute.
const OF_ADDRESS: u32 = 10;
const OF_MERCHANT: u32 = 1_000;
/// The tries to find all orders while the merchant's limit is used up.
const TRIES: u32 = 5;

/// The answers to guesses.
#[derive(Clone, Copy, Default)]
pub(super) struct Guesses {
    pub(super) made: u32,
    /// Guesses that opened an order.
    pub(super) found: u32,
    /// Guesses that were refused because there were too many.
    pub(super) limited: u32,
    /// Those without the time to come back.
    pub(super) without_time: u32,
    /// Right pairs tried afterwards, and those that did not work.
    pub(super) afterwards: u32,
    pub(super) locked_out: u32,
}

impl Guesses {
    /// Guesses, and then tries the right pairs.
    pub(super) async fn make(stage: &Stage, service: &Service, count: u32, addresses: u32) -> anyhow::Result<Self> {
        let orders: Vec<String> = (0..ORDERS).map(order).collect();
        publish(stage, service.address, SHOP, &orders).await?;
        let mut guesses = Self::default();
        guesses
            .guess(service, count, move |at, lots| {
                // Every other number is an order's; most keys are e-mail addresses.
                let order = if at.is_multiple_of(2) { order(lots.random_range(0..ORDERS)) } else { format!("H-{at:06}") };
                let key = match lots.random_range(0..4) {
                    0 => format!("{:05}", lots.random_range(20_000..99_999)),
                    _ => format!("guess.{at}@example.com"),
                };
                (address(GUESSING, at % addresses), order, key)
            })
            .await?;
        ensure!(guesses.made == count, "{} of {count} guesses were answered", guesses.made);
        ensure!(guesses.limited >= count.saturating_sub(addresses * OF_ADDRESS), "only {} guesses were limited", guesses.limited);
        for _ in 0..TRIES {
            guesses.use_up(service).await?;
            let (tried, failed) = right_pairs(service).await?;
            guesses.afterwards += tried;
            guesses.locked_out += failed;
            guesses.found += right_guesses(service, addresses).await?;
            if is_used_up(service, u32::MAX / 1_000).await? {
                return Ok(guesses);
            }
        }
        anyhow::bail!("the merchant's limit did not stay used up while shoppers came")
    }

    /// Makes guesses with what `next` chooses.
    async fn guess(
        &mut self,
        service: &Service,
        count: u32,
        next: impl Fn(u32, &mut StdRng) -> (String, String, String) + Copy + Send + 'static,
    ) -> anyhow::Result<()> {
        let (at, mut at_work) = (Arc::new(AtomicU32::new(0)), JoinSet::new());
        for worker in 0..AT_A_TIME {
            let (at, mut browser) = (Arc::clone(&at), Browser::new(service.address, SHOP));
            at_work.spawn(async move {
                let (mut part, mut lots) = (Self::default(), StdRng::seed_from_u64(SEED + u64::from(worker)));
                loop {
                    let number = at.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return anyhow::Ok(part);
                    }
                    let (from, order, key) = next(number, &mut lots);
                    browser.visits(SHOP);
                    browser.moves_to(&from);
                    part.note(&search(&mut browser, &order, &key).await.context("a guess was not answered")?)?;
                }
            });
        }
        while let Some(part) = at_work.join_next().await {
            let part = part??;
            self.made += part.made;
            self.found += part.found;
            self.limited += part.limited;
            self.without_time += part.without_time;
        }
        Ok(())
    }

    fn note(&mut self, page: &Page) -> anyhow::Result<()> {
        self.made += 1;
        match page.status {
            200 => {}
            303 => self.found += 1,
            429 => {
                self.limited += 1;
                self.without_time += u32::from(!says_when(page));
            }
            status => anyhow::bail!("a guess was answered with {status}"),
        }
        Ok(())
    }

    /// Uses up the merchant's limit of this minute, with as many addresses and numbers as it takes.
    async fn use_up(&mut self, service: &Service) -> anyhow::Result<()> {
        let (mut flood, mut lots) = (Self::default(), StdRng::seed_from_u64(SEED));
        for _ in 0..TRIES {
            let round: u32 = lots.random_range(1_000..1_000_000);
            if is_used_up(service, round).await? {
                return Ok(());
            }
            let one = move |at: u32, _: &mut StdRng| {
                (address(FLOODING, round * 10 + at), format!("J-{round}-{at}"), "guess@example.com".to_owned())
            };
            flood.guess(service, OF_MERCHANT, one).await?;
            self.found += flood.found;
        }
        anyhow::bail!("the merchant's limit is not reached after {} misses in a row", OF_MERCHANT * TRIES)
    }
}

fn order(number: u32) -> String {
    format!("G-{number:06}")
}

/// Whether the page says when to come back.
fn says_when(page: &Page) -> bool {
    page.html.contains("You can try again") && page.header("retry-after").is_some()
}

/// Returns whether a miss from a fresh address, for a number that nobody has tried, is refused because of the merchant's limit.
async fn is_used_up(service: &Service, round: u32) -> anyhow::Result<bool> {
    let mut browser = Browser::new(service.address, SHOP);
    browser.moves_to(&address(SHOPPERS, 1_000_000 + round));
    let page = search(&mut browser, &format!("K-{round}"), "nobody@example.com").await.context("a search was not answered")?;
    Ok(page.status == 429)
}

/// Finds every order by its right pair from a fresh address, by e-mail address and by postal code. Returns how many were tried, and
/// how many did not work.
async fn right_pairs(service: &Service) -> anyhow::Result<(u32, u32)> {
    let (mut tried, mut failed) = (0, 0);
    for number in 0..ORDERS {
        let order = order(number);
        let fresh = address(SHOPPERS, number);
        for key in [email(&order), POSTCODE.to_owned()] {
            let mut browser = Browser::new(service.address, SHOP);
            browser.moves_to(&fresh);
            let page = search(&mut browser, &order, &key).await.context("a search was not answered")?;
            tried += 1;
            failed += u32::from(page.status != 303);
        }
    }
    Ok((tried, failed))
}

/// Guesses every order right from an address that has used up its misses. Returns how many were found.
async fn right_guesses(service: &Service, addresses: u32) -> anyhow::Result<u32> {
    let mut found = 0;
    for number in 0..ORDERS {
        let mut browser = Browser::new(service.address, SHOP);
        browser.moves_to(&address(GUESSING, number % addresses));
        let page = search(&mut browser, &order(number), POSTCODE).await.context("a guess was not answered")?;
        found += u32::from(page.status == 303);
    }
    Ok(found)
}
