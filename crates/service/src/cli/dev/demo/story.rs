//! The story itself. All of it happens: the requests go through the flows, the engine delivers, and only the clock is hurried.

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use chrono::TimeDelta;
use domain::messages::delivery::Schedule;
use domain::messages::message::Interface;
use sandbox::carrier::Status;
use sandbox::merchant::Merchant as Receiver;
use sandbox::samples;
use serde_json::Value;
use store::messages::log::{self, MessageDetail};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;
use wire::returns::api;

use super::bad_day::{BadDay, Seen};
use super::teller::Teller;
use crate::app::App;
use crate::cli::dev::places::ACTOR;
use crate::cli::dev::seed::{self, Demo};
use crate::delivery::secrets::authentication::{Authentication, OAuth, Style};
use crate::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use crate::flow::messages::retry_message::{Asker, retry_message};
use crate::flow::node::advance_clock::advance_clock;
use crate::flow::returns::start_return::start_return;
use crate::platform::clock::Span;

/// The longest wait for something to happen, which usually takes less than a second.
const DEADLINE: Duration = Duration::from_secs(20);
/// The pause between two looks at the database.
const PAUSE: Duration = Duration::from_millis(20);
/// The units of the order. One of them comes back.
const UNITS: u32 = 2;

/// A story that is being told.
pub(super) struct Story<'a> {
    app: &'a App,
    demo: &'a Demo,
    day: BadDay,
    calls: mpsc::Receiver<Seen>,
    /// Every call so far.
    seen: Vec<Seen>,
    order: Value,
    order_name: String,
}

impl<'a> Story<'a> {
    /// Prepares the story: the merchant's system takes messages with a token only.
    pub(super) async fn begin(app: &'a App, receiver: &Receiver, demo: &'a Demo) -> anyhow::Result<Self> {
        let (day, calls) = BadDay::begin(receiver, &format!("/{}{}", demo.handle, Interface::Rma.path()));
        let oauth = OAuth {
            token_url: receiver.tokens().url(),
            client_id: "backhaul".to_owned(),
            client_secret: "a made-up secret".into(),
            scope: None,
            style: Style::Form,
            extra: None,
        };
        let change = EndpointChange { authentication: Some(Authentication::OAuth(oauth)), ..EndpointChange::default() };
        set_endpoint(app, ACTOR, demo.id, Interface::Rma, change).await?;
        let order_name = format!("DEMO-{}", app.now().timestamp());
        let order = samples::order(&order_name, UNITS, app.now());
        Ok(Self { app, demo, day, calls, seen: Vec::new(), order, order_name })
    }

    /// Tells it from the beginning to the end.
    pub(super) async fn tell(mut self, teller: &mut Teller) -> anyhow::Result<()> {
        let opening = "Everything happens on this machine. The clock is the sandbox's own, so hours pass in a moment.";
        teller.opens("A return, and a merchant's system that has a bad day", opening).await;
        let rma = self.return_shoes(teller).await?;
        let tracking_number = self.stumble(teller).await?;
        self.refuse_token(teller, &tracking_number).await?;
        let refunded = self.break_down(teller, &rma).await?;
        self.mend(teller, refunded).await?;
        self.look_back(teller).await
    }

    async fn return_shoes(&mut self, teller: &mut Teller) -> anyhow::Result<String> {
        teller.part(1, "A shopper sends shoes back").await;
        self.day.fails(2);
        seed::push(self.app, self.demo.id, std::slice::from_ref(&self.order)).await?;
        let body = samples::return_of(&self.order_name, 1, "mail-back", "TOO_SMALL").to_string();
        let request = api::read(body.as_bytes()).map_err(|_| anyhow!("the sample return was refused"))?;
        let rma = start_return(self.app, None, self.demo.id, &request, None).await?.identifier()?;
        teller.does("shop", &format!("pushes the order {}: two pairs of running shoes", self.order_name)).await;
        teller.does("shopper", &format!("returns one pair, which is too small: {rma}")).await;
        Ok(rma)
    }

    /// The first message is answered with 500 twice. Returns the tracking number of the second message, which waits behind it.
    async fn stumble(&mut self, teller: &mut Teller) -> anyhow::Result<String> {
        let waits = Schedule::default().waits();
        for wait in waits.iter().take(2) {
            let message = self.next(teller, "it stumbles").await?;
            self.skip(teller, message, *wait).await?;
        }
        self.next(teller, "accepted").await?;
        teller.does("carrier", "has sold the label meanwhile; the message on it has waited its turn").await;
        self.next(teller, "accepted").await?;
        let last = self.seen.last().and_then(|seen| seen.told.tracking_number.clone());
        last.context("the label has no tracking number")
    }

    async fn refuse_token(&mut self, teller: &mut Teller, tracking_number: &str) -> anyhow::Result<()> {
        teller.part(2, "A token is revoked").await;
        self.day.revokes_the_token();
        self.demo.carrier.scan(tracking_number, Status::InTransit)?;
        teller.does("carrier", "scans the parcel").await;
        self.next(teller, "unknown token").await?;
        teller.does("backhaul", "fetches a new token and asks again at once; this counts as no attempt").await;
        self.next(teller, "accepted").await?;
        Ok(())
    }

    /// The last message is never accepted. Returns its id.
    async fn break_down(&mut self, teller: &mut Teller, rma: &str) -> anyhow::Result<Uuid> {
        teller.part(3, "The merchant's system breaks down").await;
        let waits = Schedule::default().waits();
        self.day.fails(waits.len() + 1);
        let now = self.app.now();
        let refund = samples::refund(&format!("REFUND-{}", self.order_name), &self.order_name, rma, now);
        seed::push(self.app, self.demo.id, &[samples::refunded(self.order.clone(), &[refund], now)]).await?;
        teller.does("shop", "refunds the shoes, and pushes the order with the refund").await;
        for wait in waits {
            let message = self.next(teller, "it is down").await?;
            self.skip(teller, message, wait).await?;
        }
        let message = self.next(teller, "it is down").await?;
        self.find(message, |found| found.failure.is_some().then_some(())).await?;
        let night = Span::of(waits.iter().sum());
        teller
            .does("backhaul", &format!("gives up after {} attempts in {night}. The message is in the failure queue.", waits.len() + 1))
            .await;
        Ok(message)
    }

    async fn mend(&mut self, teller: &mut Teller, message: Uuid) -> anyhow::Result<()> {
        teller.part(4, "Somebody looks after it").await;
        let handle = self.demo.handle;
        let (event, failure) = self.find(message, |found| Some((found.event.clone(), found.failure.clone()?))).await?;
        let shown = [format!("{event}  {}  {}", failure.state, failure.reason)];
        teller.command(&format!("backhaul failures list --merchant {handle} --interface rma"), &shown).await;
        teller.does("merchant", "has mended its system").await;
        teller.command(&format!("backhaul failures retry {message} --merchant {handle}"), &[]).await;
        retry_message(self.app, Asker::Operator(ACTOR), self.demo.id, message).await?;
        self.next(teller, "accepted").await?;
        Ok(())
    }

    /// Holds what happened against what is promised.
    async fn look_back(&mut self, teller: &mut Teller) -> anyhow::Result<()> {
        teller.part(5, "What is left of the day").await;
        let accepted: Vec<&Seen> = self.seen.iter().filter(|seen| seen.status == 200).collect();
        let order: Vec<u64> = accepted.iter().map(|seen| seen.sequence).collect();
        let is_same = |seen: &Seen| accepted.iter().any(|other| (other.message, other.digest) == (seen.message, seen.digest));
        if order != [1, 2, 3, 4] || !self.seen.iter().all(is_same) {
            bail!("the messages did not arrive once each, in order and unchanged");
        }
        let (calls, count) = (self.seen.len(), accepted.len());
        teller.does("merchant", &format!("has {count} messages, each accepted once, in order, from {calls} calls")).await;
        teller.does("", "Every call of a message had the same id and the same bytes, and was signed.").await;
        teller.does("", "Nothing was lost, and nobody had to look at a log.").await;
        teller.part(6, "Your turn").await;
        teller.command("backhaul dev", &["the same sandbox, to stay: portal, console, mailbox, commands to paste".to_owned()]).await;
        let listen = "your own server gets every message";
        teller.command("backhaul listen --forward-to http://localhost:3000", &[listen.to_owned()]).await;
        let trigger = "makes one, the true way";
        teller.command("backhaul trigger rma.refunded --merchant demo-shoes", &[trigger.to_owned()]).await;
        Ok(())
    }

    /// Waits for the next call, tells of it, and returns its message.
    async fn next(&mut self, teller: &mut Teller, meaning: &str) -> anyhow::Result<Uuid> {
        let late = || format!("no message arrived within {} s", DEADLINE.as_secs());
        let seen = timeout(DEADLINE, self.calls.recv()).await.with_context(late)?.with_context(late)?;
        let parcel = seen.told.parcel.as_deref().unwrap_or("no label yet");
        let what = format!("{:20} {:8} {parcel:12} attempt {}", seen.told.event, seen.told.status, seen.attempt);
        teller.calls(&what, seen.status, meaning).await;
        let message = seen.message;
        self.seen.push(seen);
        Ok(message)
    }

    /// Waits until a failed attempt is settled, and moves the clock to the next one, which comes after about this `wait`.
    async fn skip(&self, teller: &mut Teller, message: Uuid, wait: TimeDelta) -> anyhow::Result<()> {
        let made = self.seen.iter().filter(|seen| seen.message == message).count();
        let is_settled = |found: &MessageDetail| {
            let owed = found.owed.filter(|owed| usize::try_from(owed.attempts).is_ok_and(|attempts| attempts == made))?;
            owed.due_at
        };
        let due_at = self.find(message, is_settled).await?;
        teller.does("backhaul", &format!("waits for {}, which the clock skips", Span::of(wait))).await;
        let by = due_at - self.app.now() + TimeDelta::seconds(1);
        if by > TimeDelta::zero() {
            advance_clock(self.app, ACTOR, Span::of(by)).await?;
            self.app.renew_clock().await?;
        }
        Ok(())
    }

    /// Waits until the message is as `wanted`.
    async fn find<T>(&self, message: Uuid, wanted: impl Fn(&MessageDetail) -> Option<T>) -> anyhow::Result<T> {
        let looking = async {
            loop {
                let found = log::find(self.app.store(self.demo.id), self.demo.id, message).await?;
                if let Some(found) = found.as_ref().and_then(&wanted) {
                    return anyhow::Ok(found);
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        timeout(DEADLINE, looking).await.with_context(|| format!("the message {message} is not settled after {} s", DEADLINE.as_secs()))?
    }
}
