//! Concurrent requests for the same units: no unit is returned twice, nothing is lost, and nothing deadlocks.
//!
//! `TRIALS` sets how often each race is tried: a few times, or 10,000 with `make race-returns`.

use backhaul::app::App;
use backhaul::flow::orders::accept_orders::accept_orders;
use backhaul::flow::returns::carrier_event::{EventOutcome, carrier_event};
use backhaul::flow::returns::start_return::start_return;
use bytes::Bytes;
use domain::id::MerchantId;
use domain::orders::snapshot::Verdict;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};

use crate::world::{World, mail_back, message, plain_refund, sold};

/// The number of trials unless `TRIALS` is set.
const TRIALS: u32 = 60;

fn trials() -> u32 {
    std::env::var("TRIALS").ok().and_then(|trials| trials.parse().ok()).unwrap_or(TRIALS)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_who_return_the_last_unit_one_does() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 1).await;
    let wanted = mail_back("A-1", 1);
    let replies = join_all((0..200).map(|_| merchant.starts(&wanted))).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(422)), (1, 199));
    for table in ["rma", "rma_item", "unit_claim", "message"] {
        assert_eq!(world.database.count(table).await, 1, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmation_that_comes_50_times_at_once_starts_one_return() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 4).await;
    let wanted = mail_back("A-1", 2);
    let confirm = || merchant.calls(Method::POST, "/v1/returns", |request| request.header("Idempotency-Key", "one").json(&wanted));
    let replies = join_all((0..50).map(|_| confirm())).await;
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!((count(201), count(200)), (1, 49));
    assert!(replies.iter().all(|reply| reply.text == replies[0].text));
    assert_eq!((world.database.count("rma").await, world.database.count("message").await), (1, 1));
}

async fn publish(app: &App, merchant: MerchantId, order: Value) -> Verdict {
    let body = Bytes::from(message([order]).to_string());
    let received = wire::orders::order::read(&body).unwrap_or_else(|_| panic!("{body:?}"));
    accept_orders(app, merchant, received, &body).await.unwrap().orders[0].1
}

/// Starts a return of one unit and returns its identifier.
async fn start(app: &App, merchant: MerchantId, order: &str) -> String {
    let text = mail_back(order, 1).to_string();
    let wanted = wire::returns::api::read(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    let answer: Value = serde_json::from_str(&start_return(app, None, merchant, &wanted, None).await.unwrap().answer).unwrap();
    answer["rma_identifier"].as_str().unwrap().to_owned()
}

async fn report(app: &App, merchant: MerchantId, event: Value) -> EventOutcome {
    let text = event.to_string();
    let event = wire::returns::carrier::read(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    carrier_event(app, merchant, &event).await.unwrap()
}

/// The events of the messages about a return, in order.
async fn events(connection: &mut PgConnection, rma: &str) -> Vec<String> {
    sqlx::query_scalar("select event from message where subject = $1 order by sequence").bind(rma).fetch_all(connection).await.unwrap()
}

/// Every second update brings a refund of one unit. If the return exists by then, the refund settles it, and the message says so.
#[tokio::test]
async fn an_order_changes_while_a_unit_of_it_is_returned_and_neither_is_lost() {
    let world = World::new().await;
    let (app, merchant) = (&world.app, world.merchant("acme").await.id);
    let mut connection = world.database.connect().await;
    for trial in 0..trials() {
        let identifier = format!("A-{trial}");
        let mut order = sold(&identifier, 2);
        assert_eq!(publish(app, merchant, order.clone()).await, Verdict::Created);
        order["updated_at"] = "2026-03-01T12:00:00Z".into();
        order["raw_status"] = "CHANGED".into();
        if trial % 2 == 1 {
            order["refunds"] = json!([plain_refund(&format!("F-{trial}"), 1)]);
        }
        let (verdict, rma) = if trial % 4 < 2 {
            tokio::join!(publish(app, merchant, order), start(app, merchant, &identifier))
        } else {
            let (rma, verdict) = tokio::join!(start(app, merchant, &identifier), publish(app, merchant, order));
            (verdict, rma)
        };
        assert_eq!(verdict, Verdict::Updated);
        let query = "
            select snapshot like '%CHANGED%' as changed, has_returns, rma.status, refund_identifier is not null as refunded
            from rma join rma_item using (merchant_id, rma_id) join customer_order using (merchant_id)
            where rma.identifier = $1 and customer_order.identifier = order_identifier";
        let row = sqlx::query(query).bind(&rma).fetch_one(&mut connection).await.unwrap();
        assert!(row.get::<bool, _>("changed") && row.get::<bool, _>("has_returns"), "trial {trial}");
        let expected: &[&str] = match (row.get("status"), row.get("refunded")) {
            ("REFUNDED", true) if trial % 2 == 1 => &["rma.created", "rma.refunded"],
            ("CREATED", false) => &["rma.created"],
            other => panic!("trial {trial}: {other:?}"),
        };
        assert_eq!(events(&mut connection, &rma).await, expected, "trial {trial}");
    }
    assert_eq!(world.database.count("refund").await, i64::from(trials() / 2));
}

#[tokio::test]
async fn a_scan_that_races_with_its_label_comes_after_it() {
    let world = World::new().await;
    let (app, merchant) = (&world.app, world.merchant("acme").await.id);
    let mut connection = world.database.connect().await;
    for trial in 0..trials() {
        let (order, number) = (format!("A-{trial}"), format!("T-{trial}"));
        publish(app, merchant, sold(&order, 1)).await;
        let rma = start(app, merchant, &order).await;
        let at = "2026-03-01T12:00:00Z";
        let label = json!({ "event": "label_issued", "rma_identifier": rma, "tracking_number": number, "occurred_at": at });
        let scan = json!({ "event": "in_transit", "tracking_number": number, "occurred_at": at });
        let (labelled, scanned) = if trial % 2 == 0 {
            tokio::join!(report(app, merchant, label), report(app, merchant, scan))
        } else {
            let (scanned, labelled) = tokio::join!(report(app, merchant, scan), report(app, merchant, label));
            (labelled, scanned)
        };
        assert_eq!(labelled, EventOutcome::Moved(rma.clone()));
        assert!([EventOutcome::Waiting(None), EventOutcome::Moved(rma.clone())].contains(&scanned), "trial {trial}: {scanned:?}");
        assert_eq!(events(&mut connection, &rma).await, ["rma.created", "rma.tracking_updated", "rma.tracking_updated"], "trial {trial}");
        let parcel: String = sqlx::query_scalar("select parcel from rma_item where tracking_number = $1")
            .bind(&number)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(parcel, "TRANSIT", "trial {trial}");
    }
    assert_eq!(world.database.count("carrier_event").await, 0);
}
