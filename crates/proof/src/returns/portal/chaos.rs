//! `chaos-portal`: shoppers confirm their returns all at once, each with a double click, while the service is killed again and
//! again. A shopper who gets no answer reloads the check page and confirms again. Each must end up with one return, and its
//! merchant with one message that it was created.

mod faults;
mod history;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sandbox::merchant::Merchant;
use serde_json::Value;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use self::history::{Confirmed, History, ReceivedMessage, Stored, check};
use super::browser::{Browser, Page};
use super::orders;
use super::road::{self, Walk, offer_gift_cards};
use crate::messages::owing::{Target, all_settled};
use crate::stage::{Service, Stage};

/// The size of a run.
pub(crate) struct Plan {
    pub(crate) shoppers: usize,
    pub(crate) kills: usize,
}

/// The number of merchants. All of them use the same identifiers.
const SHOPS: usize = 4;
/// A shopper's pause before trying again.
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// The timeout for all confirmations.
const CONFIRMED_WITHIN: Duration = Duration::from_mins(3);
/// The timeout for the deliveries after the last kill. Leases of killed processes must expire first.
const DRAINED_WITHIN: Duration = Duration::from_mins(2);
/// Shoppers who walk to the check page at the same time.
const AT_A_TIME: usize = 16;

pub(crate) async fn run(program: &Path, plan: &Plan) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, {SHOPS} merchants with endpoints …");
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let (systems, received) = listen().await?;
    Target::set_all(&app, &stage, 0..SHOPS, &systems, 8).await?;
    offer_gift_cards(&app, &stage, SHOPS, &systems).await?;
    let mut service = stage.serve()?;
    service.ready().await?;
    println!("{} shoppers walk to the check page …", plan.shoppers);
    let shoppers = Shopper::all(&stage, &service, plan.shoppers).await?;

    println!("They all confirm at once, with {} kills of the service …", plan.kills);
    let started = Instant::now();
    let (done, together) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(shoppers.len())));
    let mut at_work = JoinSet::new();
    for shopper in shoppers {
        at_work.spawn(shopper.confirm(Arc::clone(&together), Arc::clone(&done)));
    }
    let kills = kill(&stage, &mut service, plan, &done).await?;
    let mut confirmed = Vec::new();
    let all = async {
        while let Some(shopper) = at_work.join_next().await {
            confirmed.push(shopper??);
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(CONFIRMED_WITHIN, all).await.context("some shoppers got no return")??;
    let mut connection = stage.connect().await?;
    all_settled(&mut connection, DRAINED_WITHIN).await?;
    service.leave().await?;
    let received = received.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let history = History { confirmed, stored: Stored::read(&mut connection, &stage.merchants).await?, received };
    check(&history).result(kills, faults::caught(&history), started.elapsed())
}

/// Starts the merchants' system. Returns the messages that it gets.
async fn listen() -> anyhow::Result<(Merchant, Arc<Mutex<Vec<ReceivedMessage>>>)> {
    let (systems, received) = (Merchant::start().await?, Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&received);
    systems.on_request(move |request| {
        if let Some(message) = ReceivedMessage::of(request) {
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        }
    });
    Ok((systems, received))
}

/// Kills and restarts the service whenever the next part of the shoppers are through. Returns the number of kills that came
/// before the last shopper was through.
async fn kill(stage: &Stage, service: &mut Service, plan: &Plan, done: &AtomicUsize) -> anyhow::Result<usize> {
    let mut amid = 0;
    for kill in 1..=plan.kills {
        // The first kill comes when hardly anybody is through.
        let enough = (plan.shoppers * (kill - 1) / plan.kills).max(1);
        let waiting = Instant::now();
        while done.load(Ordering::Relaxed) < enough {
            ensure!(waiting.elapsed() < CONFIRMED_WITHIN, "only {} shoppers are through", done.load(Ordering::Relaxed));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.kill();
        let through = done.load(Ordering::Relaxed);
        amid += usize::from(through < plan.shoppers);
        *service = stage.serve_on(service.address, service.admin)?;
        service.ready().await?;
        println!("{kill} kills, {through} shoppers were through");
    }
    Ok(amid)
}

/// A shopper on the check page.
struct Shopper {
    browser: Browser,
    shop: usize,
    order: String,
    check: Page,
}

impl Shopper {
    /// Publishes the orders of all shoppers, and lets them walk to the check page.
    async fn all(stage: &Stage, service: &Service, count: usize) -> anyhow::Result<Vec<Self>> {
        let (mut walks, mut shoppers, address) = (JoinSet::new(), Vec::with_capacity(count), service.address);
        for shop in 0..SHOPS {
            let own: Vec<String> = (shop..count).step_by(SHOPS).map(|number| format!("O-{:04}", number / SHOPS)).collect();
            orders::publish(stage, address, shop, &own).await?;
            for order in own {
                if walks.len() == AT_A_TIME {
                    shoppers.extend(walks.join_next().await.transpose()?.transpose()?);
                }
                walks.spawn(Self::at_the_check(Browser::new(address, shop), shop, order));
            }
        }
        while let Some(shopper) = walks.join_next().await {
            shoppers.push(shopper??);
        }
        Ok(shoppers)
    }

    async fn at_the_check(browser: Browser, shop: usize, order: String) -> anyhow::Result<Self> {
        let mut walk = Walk::new(browser, order, Instant::now(), Duration::ZERO);
        let check = walk.reach_the_check().await?;
        Ok(Self { browser: walk.browser, shop, order: walk.order, check })
    }

    /// Confirms with a double click, at the same time as all others.
    async fn confirm(self, together: Arc<Barrier>, done: Arc<AtomicUsize>) -> anyhow::Result<Confirmed> {
        let first = road::form(&self.check).context("the check page has no form")?;
        let (mut one, mut other) = (self.browser.tab(), self.browser);
        together.wait().await;
        let (one, other) = tokio::join!(confirm(&mut one, &first), confirm(&mut other, &first));
        done.fetch_add(1, Ordering::Relaxed);
        Ok(Confirmed { shop: self.shop, order: self.order, draft: first.0, returns: BTreeSet::from([one?, other?]) })
    }
}

/// Confirms until the page of the confirmed return is shown, and returns that return.
async fn confirm(browser: &mut Browser, first: &(String, String)) -> anyhow::Result<String> {
    let mut form = first.clone();
    loop {
        if let Some(path) = send(browser, &form).await {
            if let Some(rma) = road::rma(browser, &path) {
                return Ok(rma);
            }
            ensure!(path == browser.path("check"), "confirming led to {path}");
        }
        tokio::time::sleep(AGAIN_AFTER).await;
        // Where the return was started without the shopper's knowledge, there is nothing to check any more, and the browser sends
        // the first form again.
        form = reload(browser).await.unwrap_or_else(|| first.clone());
    }
}

/// Sends the form of the check page. Returns the path of the page that follows; `None` without an answer.
async fn send(browser: &mut Browser, (draft, revision): &(String, String)) -> Option<String> {
    let path = browser.path("check");
    let answer = browser.post(&path, &[("draft", draft), ("revision", revision)]).await?;
    let location = answer.location()?.to_owned();
    let page = browser.get(&location).await?;
    (page.status < 500).then_some(location)
}

/// Reloads the check page. Returns its form, if it is still there.
async fn reload(browser: &mut Browser) -> Option<(String, String)> {
    let path = browser.path("check");
    road::form(&browser.get(&path).await?)
}
