//! Sample returns sent through the service at startup, and a live view of messages and mails while it runs.

use std::time::Duration;

use anyhow::anyhow;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::{Merchant as Receiver, Received};
use sandbox::shop::{self, Told, ToldOfExchange, ToldOfGoods};
use tokio::sync::mpsc;
use tokio::time::timeout;
use wire::returns::api;

use super::paint::Paint;
use super::seed::{self, Demo};
use crate::app::App;
use crate::cli::output;
use crate::flow::returns::start_return::{StartReturnError, start_return};

/// The longest wait for the first messages, which usually take less than two seconds.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(20);
/// The most messages waiting to be printed; further ones are not shown.
const MOST_WAITING: usize = 1_000;

/// A message that a merchant received.
pub(super) struct Arrival {
    merchant: String,
    content: Content,
}

/// The content of a message.
enum Content {
    Return(Told),
    Exchange(ToldOfExchange),
    Goods(ToldOfGoods),
}

impl Content {
    fn read(received: &Received) -> Option<Self> {
        let of_return = || Told::read(received).map(Self::Return);
        let of_exchange = || ToldOfExchange::read(received).map(Self::Exchange);
        of_return().or_else(of_exchange).or_else(|| ToldOfGoods::read(received).map(Self::Goods))
    }

    /// Checks whether it is about a return with this event or this parcel status.
    fn reports(&self, event_or_status: &str) -> bool {
        match self {
            Self::Return(told) => told.event == event_or_status || told.parcel.as_deref() == Some(event_or_status),
            Self::Exchange(_) | Self::Goods(_) => false,
        }
    }
}

/// Returns the messages that `receiver` gets from now on. The receiver itself stops storing them.
pub(super) fn follow(receiver: &Receiver) -> mpsc::Receiver<Arrival> {
    let (sender, arrivals) = mpsc::channel(MOST_WAITING);
    receiver.keep_bodies(false);
    receiver.on_request(move |received: &Received| {
        let merchant = received.path().trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        if let Some(content) = Content::read(received) {
            // If the channel is full, the message is not shown.
            let _ = sender.try_send(Arrival { merchant, content });
        }
    });
    arrivals
}

/// A return of the tour.
struct SampleReturn<'a> {
    demo: &'a Demo,
    /// The prefix of the order's identifier.
    name: &'static str,
    magic: &'static str,
    reason: &'static str,
    exchange_sku: Option<&'static str>,
    /// The last event or parcel status that the merchant receives.
    end: &'static str,
}

/// Starts three returns: one whose parcel travels by itself, one that waits for its parcel, and one exchange for another size.
/// Prints the messages until each merchant has received the last one.
pub(super) async fn play(app: &App, demos: &(Demo, Demo), arrivals: &mut mpsc::Receiver<Arrival>, paint: Paint) -> anyhow::Result<()> {
    let (shoes, outdoor) = demos;
    let begun = app.clock.uptime();
    let since = || format!("{:5.1} s", app.clock.uptime().saturating_sub(begun).as_secs_f64());
    output::painted(&format!("\n{}\n", paint.bold("Three sample returns")));
    let samples = [
        SampleReturn { demo: shoes, name: "TOUR", magic: "SIM-TRANSIT", reason: "TOO_SMALL", exchange_sku: None, end: "TRANSIT" },
        SampleReturn { demo: outdoor, name: "TOUR", magic: "", reason: "CHANGED_MIND", exchange_sku: None, end: "PRE_TRANSIT" },
        SampleReturn {
            demo: shoes,
            name: "SWAP",
            magic: "",
            reason: "TOO_SMALL",
            exchange_sku: Some("RUN-43"),
            end: "rma.exchange_placed",
        },
    ];
    for sample in &samples {
        let order = start(app, sample).await?;
        let what = sample
            .exchange_sku
            .map_or_else(|| format!("returns one unit of order {order}"), |sku| format!("exchanges one unit of order {order} for {sku}"));
        let who = paint.bold(&format!("{:13}", sample.demo.handle));
        output::painted(&format!("  {}  {who} a shopper {what}\n", paint.dim(&since())));
    }
    let mut missing: Vec<(&str, &str)> = samples.iter().map(|sample| (sample.demo.handle, sample.end)).collect();
    let watching = async {
        while !missing.is_empty() {
            let Some(arrival) = arrivals.recv().await else { return };
            missing.retain(|(merchant, end)| arrival.merchant != *merchant || !arrival.content.reports(end));
            output::painted(&line(&since(), &arrival, paint));
        }
    };
    if timeout(ARRIVAL_TIMEOUT, watching).await.is_err() {
        let late = format!(
            "Some messages did not arrive within {} s. `backhaul messages list` and `backhaul deliverers` show why.",
            ARRIVAL_TIMEOUT.as_secs()
        );
        output::painted(&format!("  {}\n", paint.odd(&late)));
    }
    Ok(())
}

/// Pushes a new order and starts a return of it; returns the order's identifier, which is unique across runs.
async fn start(app: &App, sample: &SampleReturn<'_>) -> anyhow::Result<String> {
    let SampleReturn { demo, name, magic, reason, exchange_sku, .. } = sample;
    let order = format!("{name}-{}", app.now().timestamp_millis());
    seed::push(app, demo.id, &[demo.shop.shipped_yesterday(&order, magic, app.now())]).await?;
    let body = shop::first_unit_back(&order, reason, *exchange_sku);
    let request = api::read(body.as_bytes()).map_err(|_| anyhow!("the sample return was refused"))?;
    start_return(app, None, demo.id, &request, None).await.map_err(|error| match error {
        StartReturnError::Faulty(_) => {
            anyhow!("the policy of {} does not allow the sample return; start with `--reset` to get the default policy back", demo.handle)
        }
        StartReturnError::NoSuchOrder | StartReturnError::KeyUsed | StartReturnError::Options(_) | StartReturnError::Failed(_) => {
            error.into()
        }
    })?;
    Ok(order)
}

fn line(when: &str, Arrival { merchant, content }: &Arrival, paint: Paint) -> String {
    let text = match content {
        Content::Return(Told { event, rma, status, tracking_number, parcel, exchange_order }) => {
            let place = parcel.as_deref().unwrap_or("no label yet");
            let number = tracking_number.as_deref().unwrap_or_default();
            let exchange = exchange_order.as_ref().map_or_else(String::new, |order| format!("  exchanged by {order}"));
            format!("{rma}  {event:20}  {status:9}  {} {number}{exchange}", paint.good(&format!("{place:12}")))
        }
        Content::Exchange(ToldOfExchange { event, rma, sku }) => format!("{rma}  {event:31}  {}", paint.good(sku)),
        Content::Goods(ToldOfGoods { event, subject, what }) => format!("{subject:11}  {event:33}  {}", paint.good(what)),
    };
    format!("  {}  {} {}\n", paint.dim(when), paint.bold(&format!("{merchant:13}")), text.trim_end())
}

/// Takes every message and mail that arrives, until it is dropped, and prints them with `paint`, if there is any.
pub(super) async fn report(app: &App, receiver: &Receiver, mailbox: &Mailbox, mut arrivals: mpsc::Receiver<Arrival>, paint: Option<Paint>) {
    let time = || app.clock.wall().format("%H:%M:%S").to_string();
    let messages = async {
        while let Some(arrival) = arrivals.recv().await {
            receiver.clear();
            if let Some(paint) = paint {
                output::painted(&line(&time(), &arrival, paint));
            }
        }
    };
    let mails = async {
        let Some(paint) = paint else { return };
        let mut shown = 0;
        loop {
            // After a timeout, wait again.
            let Ok(mails) = mailbox.wait_for(shown + 1, Duration::from_hours(1)).await else { continue };
            for mail in mails.iter().skip(shown) {
                let (to, subject) = (mail.envelope_to().join(", "), mail.subject().unwrap_or_default());
                output::painted(&format!("  {}  {} to {to}: {subject}\n", paint.dim(&time()), paint.bold("a mail")));
                let links = mail.text().unwrap_or_default().lines().filter(|line| line.starts_with("http"));
                links.for_each(|link| output::painted(&format!("            {link}\n")));
            }
            shown = mails.len();
        }
    };
    tokio::join!(messages, mails);
}
