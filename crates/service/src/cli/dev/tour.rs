//! First returns, played through the service, and what merchants and shoppers are told while it runs.

use std::time::Duration;

use anyhow::anyhow;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::{Merchant as Receiver, Received};
use sandbox::shop::{self, Told, ToldOfExchange, ToldOfGoods};
use tokio::sync::mpsc;
use tokio::time::timeout;
use wire::returns;

use super::paint::Paint;
use super::seed::{self, Demo};
use crate::app::App;
use crate::cli::output;
use crate::flow::start_return::{StartReturnError, start_return};

/// How long the first messages may take. Usually it is less than two seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many messages may wait to be shown; more than that are not shown.
const MOST_WAITING: usize = 1_000;

/// A message that a merchant received: whose path it was, and what it said.
pub(super) struct Arrival {
    merchant: String,
    news: News,
}

/// What a message was about.
enum News {
    Return(Told),
    Exchange(ToldOfExchange),
    Goods(ToldOfGoods),
}

impl News {
    fn read(received: &Received) -> Option<Self> {
        let of_return = || Told::read(received).map(Self::Return);
        let of_exchange = || ToldOfExchange::read(received).map(Self::Exchange);
        of_return().or_else(of_exchange).or_else(|| ToldOfGoods::read(received).map(Self::Goods))
    }

    /// Whether it says of a return that this happened, or that its parcel is there.
    fn says(&self, what: &str) -> bool {
        match self {
            Self::Return(told) => told.event == what || told.parcel.as_deref() == Some(what),
            Self::Exchange(_) | Self::Goods(_) => false,
        }
    }
}

/// From now on, what `receiver` is told can be followed. It keeps none of it itself.
pub(super) fn follow(receiver: &Receiver) -> mpsc::Receiver<Arrival> {
    let (sender, arrivals) = mpsc::channel(MOST_WAITING);
    receiver.keep_bodies(false);
    receiver.on_request(move |received: &Received| {
        let merchant = received.path().trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        if let Some(news) = News::read(received) {
            // Whoever sends more than can be shown sees less of it.
            let _ = sender.try_send(Arrival { merchant, news });
        }
    });
    arrivals
}

/// A return that is played.
struct Part<'a> {
    demo: &'a Demo,
    /// What the order's identifier starts with.
    name: &'static str,
    magic: &'static str,
    reason: &'static str,
    exchange_sku: Option<&'static str>,
    /// What the merchant is told in the end.
    end: &'static str,
}

/// Starts a return whose parcel travels by itself, one that waits to be handed in and one for another size, and shows what the
/// merchants are told until all are known to them.
pub(super) async fn play(app: &App, demos: &(Demo, Demo), arrivals: &mut mpsc::Receiver<Arrival>, paint: Paint) -> anyhow::Result<()> {
    let (shoes, outdoor) = demos;
    let begun = app.clock.uptime();
    let since = || format!("{:5.1} s", app.clock.uptime().saturating_sub(begun).as_secs_f64());
    output::line(&format!("\n{}", paint.bold("Three returns, played through the service")));
    let parts = [
        Part { demo: shoes, name: "TOUR", magic: "SIM-TRANSIT", reason: "TOO_SMALL", exchange_sku: None, end: "TRANSIT" },
        Part { demo: outdoor, name: "TOUR", magic: "", reason: "CHANGED_MIND", exchange_sku: None, end: "PRE_TRANSIT" },
        Part { demo: shoes, name: "SWAP", magic: "", reason: "TOO_SMALL", exchange_sku: Some("RUN-43"), end: "rma.exchange_placed" },
    ];
    for part in &parts {
        let order = start(app, part).await?;
        let what = part.exchange_sku.map_or_else(|| "sends back".to_owned(), |sku| format!("takes {sku} instead of"));
        let who = paint.bold(&format!("{:13}", part.demo.handle));
        output::line(&format!("  {}  {who} a shopper {what} one unit of order {order}", paint.dim(&since())));
    }
    let mut missing: Vec<(&str, &str)> = parts.iter().map(|part| (part.demo.handle, part.end)).collect();
    let watching = async {
        while !missing.is_empty() {
            let Some(arrival) = arrivals.recv().await else { return };
            missing.retain(|(merchant, end)| arrival.merchant != *merchant || !arrival.news.says(end));
            output::line(&line(&since(), &arrival, paint));
        }
    };
    if timeout(PATIENCE, watching).await.is_err() {
        let late =
            format!("Not everything arrived within {} s. `backhaul messages list` and `backhaul deliverers` say why.", PATIENCE.as_secs());
        output::line(&format!("  {}", paint.odd(&late)));
    }
    Ok(())
}

/// Pushes an order and starts a return of it; answers the order. A database that was used before may know the older ones.
async fn start(app: &App, part: &Part<'_>) -> anyhow::Result<String> {
    let Part { demo, name, magic, reason, exchange_sku, .. } = part;
    let order = format!("{name}-{}", app.now().timestamp_millis());
    seed::push(app, demo.id, &[demo.shop.shipped_yesterday(&order, magic, app.now())]).await?;
    let body = shop::first_unit_back(&order, reason, *exchange_sku);
    let wanted = returns::read(body.as_bytes()).map_err(|_| anyhow!("the sample return is refused"))?;
    start_return(app, demo.id, &wanted, None).await.map_err(|error| match error {
        StartReturnError::Faulty(_) => anyhow!("the policy of {} does not let the sample return be; `--reset` begins anew", demo.handle),
        StartReturnError::NoSuchOrder | StartReturnError::KeyUsed | StartReturnError::Options(_) | StartReturnError::Failed(_) => {
            error.into()
        }
    })?;
    Ok(order)
}

fn line(when: &str, Arrival { merchant, news }: &Arrival, paint: Paint) -> String {
    let text = match news {
        News::Return(Told { event, rma, status, tracking_number, parcel, exchange_order }) => {
            let place = parcel.as_deref().unwrap_or("no label yet");
            let number = tracking_number.as_deref().unwrap_or_default();
            let exchange = exchange_order.as_ref().map_or_else(String::new, |order| format!("  exchanged by {order}"));
            format!("{rma}  {event:20}  {status:9}  {} {number}{exchange}", paint.good(&format!("{place:12}")))
        }
        News::Exchange(ToldOfExchange { event, rma, sku }) => format!("{rma}  {event:31}  {}", paint.good(sku)),
        News::Goods(ToldOfGoods { event, subject, what }) => format!("{subject:11}  {event:33}  {}", paint.good(what)),
    };
    format!("  {}  {} {}", paint.dim(when), paint.bold(&format!("{merchant:13}")), text.trim_end())
}

/// Shows what arrives for as long as it is polled.
pub(super) async fn report(app: &App, receiver: &Receiver, mailbox: &Mailbox, mut arrivals: mpsc::Receiver<Arrival>, paint: Paint) {
    let time = || app.clock.wall().format("%H:%M:%S").to_string();
    let messages = async {
        while let Some(arrival) = arrivals.recv().await {
            receiver.clear();
            output::line(&line(&time(), &arrival, paint));
        }
    };
    let mails = async {
        let mut shown = 0;
        loop {
            // Whoever waits for ever just begins again.
            let Ok(mails) = mailbox.wait_for(shown + 1, Duration::from_hours(1)).await else { continue };
            for mail in mails.iter().skip(shown) {
                let (to, subject) = (mail.envelope_to().join(", "), mail.subject().unwrap_or_default());
                output::line(&format!("  {}  {} to {to}: {subject}", paint.dim(&time()), paint.bold("a mail")));
            }
            shown = mails.len();
        }
    };
    tokio::join!(messages, mails);
}
