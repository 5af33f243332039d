//! Pairs of misses: one with an unknown number, the other with something else wrong. Both must be answered alike, in the same time.
//!
//! Every pair has orders and an address of its own, so that no limit is reached. Which of the two comes first is drawn by lot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use backhaul::flow::merchants::configure_merchant::pause_merchant;
use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use domain::id::MerchantId;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use store::merchants::accounts;
use tokio::task::JoinSet;

use super::attacker::{address, search};
use super::welch::{error, mean, t};
use crate::messages::witness::SEED;
use crate::returns::portal::browser::{Browser, Page};
use crate::returns::portal::orders::{POSTCODE, email, publish};
use crate::stage::{Service, Stage};

/// Merchants for pairs within one merchant.
const SHOPS: std::ops::Range<usize> = 10..60;
/// Active merchants to compare with paused ones. Both get the same number of searches, and the handles are of the same length.
const ACTIVE: std::ops::Range<usize> = 60..80;
const PAUSED: std::ops::Range<usize> = 80..100;
/// Pairs at the same time.
const AT_A_TIME: u32 = 48;
/// The network of the addresses.
const NETWORK: u8 = 10;
/// The headers that differ from answer to answer, whatever the reason of the miss.
const OWN: [&str; 3] = ["date:", "x-request-id:", "ratelimit"];
/// Orders erased at the same time.
const ERASED_AT_A_TIME: usize = 8;
/// The time until every node knows that a merchant is paused.
const NOTICED_WITHIN: Duration = Duration::from_secs(6);

/// The reasons of misses that are compared with an unknown number.
#[derive(Clone, Copy, Debug)]
enum Kind {
    WrongEmail,
    WrongPostcode,
    Erased,
    Paused,
}

const KINDS: [Kind; 4] = [Kind::WrongEmail, Kind::WrongPostcode, Kind::Erased, Kind::Paused];

/// A search: the merchant, the number and the key.
struct Search {
    shop: usize,
    order: String,
    key: String,
}

impl Kind {
    /// The search with this fault, and the one for an unknown number.
    fn pair(self, number: u32) -> (Search, Search) {
        let at = |shops: std::ops::Range<usize>| shops.start + usize::try_from(number).unwrap_or_default() % shops.len();
        let (stored, erased, unknown) = (stored(number), erased(number), format!("U-{number:06}"));
        let (shop, unknown_shop, order, key) = match self {
            Self::WrongEmail => (at(SHOPS), at(SHOPS), stored, format!("sam.{number:06}@example.com")),
            Self::WrongPostcode => (at(SHOPS), at(SHOPS), stored, "10002".to_owned()),
            Self::Erased => (at(SHOPS), at(SHOPS), erased.clone(), email(&erased)),
            // Right, but the merchant is paused.
            Self::Paused => {
                (at(PAUSED), at(ACTIVE), stored.clone(), if number.is_multiple_of(2) { email(&stored) } else { POSTCODE.to_owned() })
            }
        };
        (Search { shop, order, key: key.clone() }, Search { shop: unknown_shop, order: unknown, key })
    }
}

fn stored(number: u32) -> String {
    format!("A-{number:06}")
}

fn erased(number: u32) -> String {
    format!("E-{number:06}")
}

/// The pairs of one kind.
#[derive(Default)]
struct Compared {
    /// The times of both searches of each pair, in microseconds.
    wrong: Vec<f64>,
    unknown: Vec<f64>,
    /// Pairs with different answers, and one of them.
    unlike: usize,
    example: Option<String>,
}

/// All pairs, by kind.
#[derive(Default)]
pub(super) struct Misses([Compared; KINDS.len()]);

impl Misses {
    /// Searches for orders in pairs.
    pub(super) async fn compare(stage: &Stage, service: &Service, pairs: u32) -> anyhow::Result<Self> {
        println!("Storing the orders of {pairs} pairs, erasing as many, pausing {} merchants …", PAUSED.len());
        prepare(stage, service, pairs).await?;
        println!("Searching {pairs} times for each kind of miss and for an unknown number …");
        let (next, mut at_work) = (Arc::new(AtomicU32::new(0)), JoinSet::new());
        for worker in 0..AT_A_TIME {
            let (browser, next) = (Browser::new(service.address, SHOPS.start), Arc::clone(&next));
            at_work.spawn(async move { search_in_pairs(browser, worker, pairs, &next).await });
        }
        let mut all = Self::default();
        while let Some(part) = at_work.join_next().await {
            for (all, part) in all.0.iter_mut().zip(part??.0) {
                all.wrong.extend(part.wrong);
                all.unknown.extend(part.unknown);
                all.unlike += part.unlike;
                all.example = all.example.take().or(part.example);
            }
        }
        Ok(all)
    }

    pub(super) fn show(&self) {
        println!("{:16} {:>8} {:>12} {:>14} {:>16} {:>8}", "miss", "pairs", "mean ms", "difference us", "standard error", "t");
        for (kind, Compared { wrong, unknown, .. }) in KINDS.iter().zip(&self.0) {
            let kind = format!("{kind:?}");
            let (mean, difference) = (mean(wrong) / 1_000.0, mean(wrong) - mean(unknown));
            println!(
                "{kind:16} {:>8} {mean:>12.3} {difference:>14.1} {:>16.1} {:>8.2}",
                wrong.len(),
                error(wrong, unknown),
                t(wrong, unknown)
            );
        }
    }

    /// The fewest pairs of a kind.
    pub(super) fn pairs(&self) -> usize {
        self.0.iter().map(|compared| compared.wrong.len()).min().unwrap_or_default()
    }

    /// The largest difference from an unknown number, in standard errors.
    pub(super) fn worst_t(&self) -> f64 {
        self.0.iter().map(|compared| t(&compared.wrong, &compared.unknown).abs()).fold(0.0, f64::max)
    }

    /// Pairs with different answers.
    pub(super) fn unlike(&self) -> usize {
        self.0.iter().map(|compared| compared.unlike).sum()
    }

    /// One of them.
    pub(super) fn example(&self) -> &str {
        self.0.iter().find_map(|compared| compared.example.as_deref()).unwrap_or_default()
    }
}

/// Publishes the orders, erases those that are to be erased, and pauses merchants.
async fn prepare(stage: &Stage, service: &Service, pairs: u32) -> anyhow::Result<()> {
    let app = stage.app()?;
    for (shops, name) in [(SHOPS, stored as fn(u32) -> String), (SHOPS, erased), (PAUSED, stored)] {
        for (first, shop) in (0..).zip(shops.clone()) {
            let orders: Vec<String> = (first..pairs).step_by(shops.len()).map(name).collect();
            publish(stage, service.address, shop, &orders).await?;
        }
    }
    let mut at_work = JoinSet::new();
    for number in 0..pairs {
        if at_work.len() >= ERASED_AT_A_TIME {
            at_work.join_next().await.transpose()?.transpose()?;
        }
        let (search, _) = Kind::Erased.pair(number);
        let (app, merchant) = (app.clone(), MerchantId(*stage.merchants.get(search.shop).context("there is no such merchant")?));
        at_work.spawn(async move { erase_shopper(&app, "proof", merchant, &ErasureTarget::Order(search.order)).await });
    }
    while let Some(erased) = at_work.join_next().await {
        erased??;
    }
    for shop in PAUSED {
        let account = accounts::find(app.cell(), &format!("merchant-{shop}").parse()?).await?.context("there is no such merchant")?;
        pause_merchant(&app, "proof", &account).await?;
    }
    // A node notices within five seconds.
    tokio::time::sleep(NOTICED_WITHIN).await;
    Ok(())
}

/// Searches in pairs until there are enough.
async fn search_in_pairs(mut browser: Browser, worker: u32, pairs: u32, next: &AtomicU32) -> anyhow::Result<Misses> {
    let (mut misses, mut lots) = (Misses::default(), StdRng::seed_from_u64(SEED + u64::from(worker)));
    // Workers that start at once would stay in step.
    tokio::time::sleep(Duration::from_millis(lots.random_range(0..200))).await;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= pairs {
            return Ok(misses);
        }
        browser.moves_to(&address(NETWORK, number));
        for (kind, compared) in KINDS.iter().zip(&mut misses.0) {
            let (wrong, unknown) = kind.pair(number);
            let unknown_first = lots.random_bool(0.5);
            let (first, second) = if unknown_first { (&unknown, &wrong) } else { (&wrong, &unknown) };
            let (first, second) = (timed(&mut browser, first).await?, timed(&mut browser, second).await?);
            let ((unknown, unknown_took), (wrong, wrong_took)) = if unknown_first { (first, second) } else { (second, first) };
            compared.unknown.push(unknown_took);
            compared.wrong.push(wrong_took);
            if wrong != unknown {
                compared.unlike += 1;
                compared.example = Some(format!("{kind:?} {number}: {wrong} and {unknown}"));
            }
        }
    }
}

/// Searches. Returns the answer without what may differ, and the time that it took, in microseconds.
async fn timed(browser: &mut Browser, wanted: &Search) -> anyhow::Result<(String, f64)> {
    browser.visits(wanted.shop);
    let began = Instant::now();
    let page = search(browser, &wanted.order, &wanted.key).await.context("a search was not answered")?;
    let took = began.elapsed().as_secs_f64() * 1_000_000.0;
    Ok((alike(&page, wanted), took))
}

/// An answer without what differs from search to search, whatever the reason of the miss.
fn alike(page: &Page, wanted: &Search) -> String {
    let own = |line: &&str| OWN.iter().any(|name| line.starts_with(name));
    let head: Vec<&str> = page.head.lines().filter(|line| !own(line)).collect();
    let html = page.html.replace(&wanted.order, "ORDER").replace(&format!("merchant-{}", wanted.shop), "SHOP");
    format!("{}\n{html}", head.join("\n"))
}
