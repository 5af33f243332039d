//! `portal-stage`: the service with simulated merchants and carriers, for the browser tests of the shoppers' portal in `e2e/`.
//!
//! It prints a JSON line with the addresses. Then it reads commands from standard input, a JSON object per line, and answers each with
//! a line in the same order: its result, or `{"error": "…"}`. It ends with its input, and leaves nothing behind.
//!
//! - The merchants and their partners (`shop.rs`).

mod shop;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::app::App;
use backhaul::flow::node::advance_clock::advance_clock;
use backhaul::platform::clock::Span;
use chrono::{DateTime, Utc};
use sandbox::mailbox::{Mailbox, Received};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::shop::{Opening, Shelved, Shop};
use crate::stage::{Service, Stage, free};

/// The interval at which mails and the service's signs of life are looked for, and the longest wait for one.
const LOOKS_EVERY: Duration = Duration::from_millis(50);
const HEARD_WITHIN: Duration = Duration::from_secs(10);

/// A command of the browser tests.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Command {
    /// Adds a merchant with simulated systems and a simulated carrier.
    Open(Opening),
    /// Replaces the variants that a merchant has on its shelf.
    Shelf { merchant: String, identifier: String, variants: Vec<Shelved> },
    /// Delays a merchant's answers about variants.
    Slow { merchant: String, milliseconds: u64 },
    /// Makes a merchant refuse every exchange order as out of stock.
    RefuseExchanges { merchant: String },
    /// Delays every answer of a merchant's carrier.
    Late { merchant: String, milliseconds: u64 },
    /// Scans the parcel of a return.
    Scan { merchant: String, rma: String, status: String },
    /// Waits for a mail with a link to a merchant's portal, and returns the link.
    Link { merchant: String, to: Option<String> },
    /// Moves the clock of the sandbox ahead.
    Advance { by: String },
}

/// The running service and its merchants.
struct Scene {
    app: App,
    // The service goes before its database.
    service: Service,
    stage: Stage,
    mailbox: Mailbox,
    shops: BTreeMap<String, Shop>,
}

pub(crate) async fn run(program: &Path) -> anyhow::Result<Value> {
    let stage = Stage::set(program).await?;
    let app = stage.app()?;
    let (listen, mailbox) = (free()?.to_string(), Mailbox::start().await?);
    let portal = format!("http://{listen}");
    let settings = [
        ("BACKHAUL__PORTAL__LISTEN", listen.as_str()),
        ("BACKHAUL__PORTAL__URL", &portal),
        ("BACKHAUL__PORTAL__PSEUDO_LANGUAGE", "true"),
        ("BACKHAUL__MAIL__URL", &format!("{}?tls=none", mailbox.url())),
        ("BACKHAUL__MAIL__FROM", "returns@example.com"),
    ];
    let service = stage.serve_with(free()?, free()?, &settings)?;
    service.ready().await?;
    let mut scene = Scene { app, service, stage, mailbox, shops: BTreeMap::new() };
    println!("{}", json!({ "api": format!("http://{}", scene.service.address), "portal": portal }));
    let mut lines = read_input();
    while let Some(line) = lines.recv().await {
        let result = scene.obey(&line).await.unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        println!("{result}");
    }
    scene.service.leave().await?;
    Ok(json!({ "stage": "portal", "merchants": scene.shops.len() }))
}

/// The lines of standard input. A thread of its own reads them, because a read cannot be broken off.
fn read_input() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || std::io::stdin().lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

impl Scene {
    async fn obey(&mut self, line: &str) -> anyhow::Result<Value> {
        match serde_json::from_str(line).context("the command cannot be read")? {
            Command::Open(opening) => self.open(opening).await,
            Command::Shelf { merchant, identifier, variants } => self.shop(&merchant)?.shelve(&self.app, &identifier, &variants).await,
            Command::Slow { merchant, milliseconds } => Ok(self.shop(&merchant)?.answer_after(Duration::from_millis(milliseconds))),
            Command::RefuseExchanges { merchant } => Ok(self.shop(&merchant)?.refuse_exchanges()),
            Command::Late { merchant, milliseconds } => self.shop(&merchant)?.label_after(Duration::from_millis(milliseconds)).await,
            Command::Scan { merchant, rma, status } => self.shop(&merchant)?.scan(&rma, &status).await,
            Command::Link { merchant, to } => self.link(&merchant, to.as_deref()).await,
            Command::Advance { by } => self.advance(by.parse()?).await,
        }
    }

    fn shop(&self, handle: &str) -> anyhow::Result<&Shop> {
        self.shops.get(handle).with_context(|| format!("there is no merchant {handle:?}"))
    }

    async fn open(&mut self, opening: Opening) -> anyhow::Result<Value> {
        let handle = format!("shop-{}", self.shops.len() + 1);
        let (shop, credential) = Shop::open(&self.app, &handle, opening, self.service.address).await?;
        self.shops.insert(handle, shop);
        Ok(credential)
    }

    /// Waits for a mail, to this address if one is given, with a link to the orders in the portal of `merchant` or to a statement of
    /// withdrawal. Other merchants' mails may come first.
    async fn link(&self, merchant: &str, to: Option<&str>) -> anyhow::Result<Value> {
        let links = ["l", "w"].map(|kind| format!("/r/{merchant}/{kind}/"));
        let leads = |line: &&str| links.iter().any(|link| line.contains(link));
        let is_wanted = |mail: &&Received| to.is_none_or(|to| mail.envelope_to().iter().any(|address| address == to));
        let link = |mail: &Received| Some(mail).filter(is_wanted)?.text()?.lines().find(leads).map(ToOwned::to_owned);
        let started = Instant::now();
        loop {
            if let Some(link) = self.mailbox.received().iter().rev().find_map(link) {
                return Ok(json!({ "link": link }));
            }
            if started.elapsed() > HEARD_WITHIN {
                bail!("no mail with a link came in {} s", HEARD_WITHIN.as_secs());
            }
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }

    /// Moves the clock, and waits until the service goes by the new time.
    async fn advance(&self, by: Span) -> anyhow::Result<Value> {
        advance_clock(&self.app, "proof", by).await?;
        // The service reads the clock with every sign of life. The first one after the move may have read it before.
        let started = Instant::now();
        let (mut last, mut signs) = (self.sign_of_life().await?, 0);
        while signs < 2 {
            if started.elapsed() > HEARD_WITHIN {
                bail!("the service gave no sign of life for {} s", HEARD_WITHIN.as_secs());
            }
            tokio::time::sleep(LOOKS_EVERY).await;
            let now = self.sign_of_life().await?;
            signs += u32::from(now != last);
            last = now;
        }
        Ok(json!({ "now": self.app.now() }))
    }

    async fn sign_of_life(&self) -> anyhow::Result<Option<DateTime<Utc>>> {
        let mut connection = self.stage.connect().await?;
        Ok(sqlx::query_scalar("select max(live_until) from node_pulse").fetch_one(&mut connection).await?)
    }
}
