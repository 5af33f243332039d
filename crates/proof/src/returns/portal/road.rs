//! The road of a shopper: find the order, choose the items, say why, what instead and how, check, confirm, and look at the status.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::returns::set_policy::{PolicyChange, set_policy};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::policy::GiftCardTerms;
use sandbox::merchant::Merchant;

use super::browser::{Browser, Page};
use super::orders::email;
use crate::stage::Stage;

/// The pages of the whole road; forms and redirects come on top.
pub(super) const PAGES: u32 = 8;

/// The questions up to the check page: the page, the answer, and the page that follows.
const QUESTIONS: [(&str, (&str, &str), &str); 4] = [
    ("items", ("line", "L1"), "items/1/reason"),
    ("items/1/reason", ("reason", "TOO_SMALL"), "items/1/instead"),
    ("items/1/instead", ("instead", "refund"), "how"),
    ("how", ("how", "mail-back"), "check"),
];

/// A request along the road.
pub(super) struct Seen {
    /// The method and the page.
    pub(super) what: String,
    /// The time from when it was to be sent until it was answered, in microseconds.
    pub(super) took: u32,
    /// The time from when it was sent. The difference is the generator's.
    pub(super) answered_in: u32,
    /// A page was shown, not a redirect.
    pub(super) shown: bool,
}

/// A shopper on the road.
pub(super) struct Walk {
    pub(super) browser: Browser,
    pub(super) order: String,
    /// The time of the next request. If the shopper is late, the wait counts.
    due: Instant,
    /// The time between two pages.
    thinks: Duration,
    pub(super) seen: Vec<Seen>,
}

impl Walk {
    /// A shopper who sets out at `due`.
    pub(super) fn new(browser: Browser, order: String, due: Instant, thinks: Duration) -> Self {
        Self { browser, order, due, thinks, seen: Vec::new() }
    }

    /// Walks from the first page to the status of the return.
    pub(super) async fn finish(mut self) -> anyhow::Result<Self> {
        let check = self.reach_the_check().await?;
        let (draft, revision) = form(&check).context("the check page has no form")?;
        let (_, done) = self.send("check", &[("draft", &draft), ("revision", &revision)]).await?;
        let rma = rma(&self.browser, &done).with_context(|| format!("confirming led to {done}"))?;
        let status = self.browser.path(&format!("returns/{rma}"));
        let (_, shown) = self.open(&status).await?;
        ensure!(shown == status, "the status led to {shown}");
        Ok(self)
    }

    /// Walks from the first page to the check page.
    pub(super) async fn reach_the_check(&mut self) -> anyhow::Result<Page> {
        let first = self.browser.path("");
        self.open(&first).await?;
        let (order, key) = (self.order.clone(), email(&self.order));
        let (mut page, mut path) = self.send("", &[("order", &order), ("key", &key)]).await?;
        ensure!(path == self.browser.path("items"), "finding {order} led to {path}");
        for (question, answer, next) in QUESTIONS {
            (page, path) = self.send(question, &[answer]).await?;
            ensure!(path == self.browser.path(next), "{question} of {order} led to {path}");
        }
        Ok(page)
    }

    async fn open(&mut self, path: &str) -> anyhow::Result<(Page, String)> {
        let due = self.wait().await;
        let sent = Instant::now();
        let page = self.browser.get(path).await;
        self.follow(page, (due, sent), "GET", path).await
    }

    async fn send(&mut self, page: &str, fields: &[(&str, &str)]) -> anyhow::Result<(Page, String)> {
        let due = self.wait().await;
        let path = self.browser.path(page);
        let sent = Instant::now();
        let page = self.browser.post(&path, fields).await;
        self.follow(page, (due, sent), "POST", &path).await
    }

    /// Waits for the time of the next request, and returns it.
    async fn wait(&mut self) -> Instant {
        let due = self.due;
        self.due += self.thinks;
        if due > Instant::now() {
            tokio::time::sleep_until(due.into()).await;
        }
        due
    }

    /// Notes the answer, and follows redirects to a page. Returns it with its path.
    async fn follow(
        &mut self,
        answer: Option<Page>,
        (due, sent): (Instant, Instant),
        method: &str,
        path: &str,
    ) -> anyhow::Result<(Page, String)> {
        let (mut answer, mut due, mut sent, mut method, mut path) = (answer, due, sent, method, path.to_owned());
        for _ in 0..4 {
            let page = answer.with_context(|| format!("{method} {path} was not answered"))?;
            let shown = page.status == 200;
            let what = format!("{method:4} {}", pattern(&self.browser, &path));
            self.seen.push(Seen { what, took: micros(due), answered_in: micros(sent), shown });
            if shown {
                return Ok((page, path));
            }
            path = page.location().with_context(|| format!("{method} {path} was answered with {}", page.status))?.to_owned();
            sent = Instant::now();
            (due, method) = (sent, "GET");
            answer = self.browser.get(&path).await;
        }
        bail!("there are too many redirects to {path}")
    }
}

fn micros(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX)
}

/// The draft and the revision that the check page shows.
pub(super) fn form(check: &Page) -> Option<(String, String)> {
    Some((check.field("draft")?.to_owned(), check.field("revision")?.to_owned()))
}

/// The return whose confirmation this path shows.
pub(super) fn rma(browser: &Browser, path: &str) -> Option<String> {
    let rma = path.strip_prefix(&browser.path("returns/"))?.strip_suffix("/done")?;
    Some(rma.to_owned())
}

/// The path without what differs between shoppers.
fn pattern(browser: &Browser, path: &str) -> String {
    let page = path.strip_prefix(&browser.path("")).unwrap_or(path).trim_start_matches('/');
    match page.strip_prefix("returns/").map(|rest| rest.split_once('/')) {
        Some(Some((_, rest))) => format!("returns/{{rma}}/{rest}"),
        Some(None) => "returns/{rma}".to_owned(),
        None if page.is_empty() => "find".to_owned(),
        None => page.to_owned(),
    }
}

/// Lets the first `shops` merchants offer gift cards, so that their shoppers are asked what they would like instead. Their systems
/// are not asked for variants, whose time would be the merchant's.
pub(super) async fn offer_gift_cards(app: &App, stage: &Stage, shops: usize, systems: &Merchant) -> anyhow::Result<()> {
    for merchant in stage.merchants.iter().take(shops) {
        let exchanges = EndpointChange { url: Some(systems.url(Interface::ExchangeOrder.path())), ..EndpointChange::default() };
        set_endpoint(app, "proof", MerchantId(*merchant), Interface::ExchangeOrder, exchanges).await?;
        let gift_card = Some(Some(GiftCardTerms { sku: "GIFT-CARD".to_owned(), bonus: Cents::new(500).unwrap_or_default() }));
        set_policy(app, "proof", MerchantId(*merchant), PolicyChange { gift_card, ..PolicyChange::default() }).await?;
    }
    Ok(())
}
