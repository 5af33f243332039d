//! Runs the steps of a history through the flows, on a real database.

mod exchanging;

use backhaul::app::App;
use backhaul::flow::orders::accept_orders::accept_orders;
use backhaul::flow::returns::cancel_return::{CancelReturnError, cancel_return};
use backhaul::flow::returns::carrier_event::{CarrierEventError, EventOutcome, carrier_event};
use backhaul::flow::returns::confirm_refund::{ConfirmRefundError, confirm_refund};
use backhaul::flow::returns::receive_return::{CloseReceivingError, close_receiving};
use backhaul::flow::returns::resend_return::resend_return;
use backhaul::flow::returns::start_return::{IdempotencyKey, StartReturnError, start_return};
use backhaul::flow::returns::wake_returns::wake_returns;
use backhaul::flow::warehouse::receive_units::{ReceiveUnitsError, UnitOutcome, receive_units};
use bytes::Bytes;
use domain::id::MerchantId;
use domain::orders::snapshot::Verdict;
use serde_json::Value;
use sqlx::PgConnection;
use wire::fault::Warning;
use wire::orders::order::Refusal;

use super::step::{Arrival, Report, Snapshot, Start, Step, return_name};

/// Takes a step and returns its outcome. A return that it starts is added to `names`.
pub async fn take(app: &App, connection: &mut PgConnection, merchant: MerchantId, step: &Step, names: &mut Vec<String>) -> String {
    match step {
        Step::Publish(snapshot) => publish(app, merchant, snapshot, names).await,
        Step::Start(start) => begin(app, merchant, start, names).await,
        Step::Carry(report) => carry(app, merchant, report, names).await,
        Step::Receive(arrival) => receive(app, merchant, arrival, names).await,
        Step::Close(nth) => match close_receiving(app, merchant, return_name(*nth, names)).await {
            Ok(_) => "closed".to_owned(),
            Err(CloseReceivingError::Refused(_)) => "refused".to_owned(),
            Err(CloseReceivingError::NoSuchReturn) => "no such return".to_owned(),
            Err(CloseReceivingError::Failed(failed)) => panic!("{failed}"),
        },
        Step::Cancel(nth) => match cancel_return(app, "test", merchant, return_name(*nth, names), "by the test").await {
            Ok(_) => "cancelled".to_owned(),
            Err(CancelReturnError::Refused(_)) => "refused".to_owned(),
            Err(CancelReturnError::NoSuchReturn) => "no such return".to_owned(),
            Err(CancelReturnError::Failed(failed)) => panic!("{failed}"),
        },
        Step::Resend(nth) => {
            let resent = resend_return(app, "test", merchant, return_name(*nth, names)).await.unwrap();
            if resent.is_some() { "resent" } else { "no such return" }.to_owned()
        }
        Step::Answer(nth, answer, last) => exchanging::answer(app, connection, merchant, return_name(*nth, names), *answer, *last).await,
        Step::Convert(nth) => exchanging::convert(app, merchant, return_name(*nth, names)).await.to_owned(),
        Step::Confirm(nth) => match confirm_refund(app, "test", merchant, return_name(*nth, names)).await {
            Ok(_) => "confirmed".to_owned(),
            Err(ConfirmRefundError::NoSuchReturn) => "no such return".to_owned(),
            Err(ConfirmRefundError::NothingInQuestion) => "nothing in question".to_owned(),
            Err(ConfirmRefundError::Failed(failed)) => panic!("{failed}"),
        },
        Step::Retry(nth) => exchanging::retry(app, connection, merchant, return_name(*nth, names)).await.to_owned(),
        Step::Wait(_) => {
            while wake_returns(app).await.unwrap() {}
            "woken".to_owned()
        }
    }
}

async fn publish(app: &App, merchant: MerchantId, snapshot: &Snapshot, names: &[String]) -> String {
    let body = Bytes::from(snapshot.message(names));
    let Ok(received) = wire::orders::order::read(&body) else { return "refused".to_owned() };
    match accept_orders(app, merchant, received, &body).await {
        Ok(accepted) => {
            let verdict = match accepted.orders[0].1 {
                Verdict::Created => "created",
                Verdict::Updated => "updated",
                Verdict::Unchanged => "unchanged",
                Verdict::Stale => "stale",
            };
            let mut warnings: Vec<&str> = accepted.warnings.iter().filter_map(beside_sums).collect();
            warnings.sort_unstable();
            format!("{verdict} {warnings:?}")
        }
        Err(failed) => panic!("{failed}"),
    }
}

/// The field of a warning, unless it is about sums.
fn beside_sums(warning: &Warning) -> Option<&str> {
    let field = warning.field.strip_prefix("returns_portal_order.orders[0].")?;
    let sums = field.ends_with("_amount_cents") && !warning.message.contains("received before");
    Some(field).filter(|field| !sums && !field.ends_with("created_at"))
}

async fn begin(app: &App, merchant: MerchantId, start: &Start, names: &mut Vec<String>) -> String {
    let request = start.request();
    let Ok(wanted) = wire::returns::api::read(request.as_bytes()) else { return "faulty".to_owned() };
    let mut request_hash = [0; 32];
    request_hash[0] = u8::from(start.giftee);
    let key = start.key.map(|key| IdempotencyKey { key: key.to_string(), request_hash, draft: None });
    match start_return(app, None, merchant, &wanted, key.as_ref()).await {
        Ok(started) => {
            let answer: Value = serde_json::from_str(&started.answer).unwrap();
            let name = answer["rma_identifier"].as_str().unwrap().to_owned();
            if started.repeated {
                return format!("repeated {name}");
            }
            names.push(name.clone());
            format!("started {name}")
        }
        Err(StartReturnError::NoSuchOrder) => "no such order".to_owned(),
        Err(StartReturnError::Faulty(_)) => "faulty".to_owned(),
        Err(StartReturnError::KeyUsed) => "key used".to_owned(),
        Err(StartReturnError::Options(unknown)) => panic!("{unknown}"),
        Err(StartReturnError::Failed(failed)) => panic!("{failed}"),
    }
}

async fn carry(app: &App, merchant: MerchantId, report: &Report, names: &[String]) -> String {
    let request = report.request(names);
    let event = match wire::returns::carrier::read(request.as_bytes()) {
        Ok(event) => event,
        Err(Refusal::Faulty(_)) => return "faulty".to_owned(),
        Err(Refusal::Malformed(_)) => panic!("{request}"),
    };
    match carrier_event(app, merchant, &event).await {
        Ok(EventOutcome::Moved(name)) => format!("moved {name}"),
        Ok(EventOutcome::Unchanged(name)) => format!("unchanged {name}"),
        Ok(EventOutcome::Waiting(name)) => format!("kept {}", name.as_deref().unwrap_or("for a number")),
        Ok(EventOutcome::Ignored) => "ignored".to_owned(),
        Err(CarrierEventError::NoSuchReturn) => "no such return".to_owned(),
        Err(CarrierEventError::Refused(_)) => "refused".to_owned(),
        Err(CarrierEventError::TrackingNumberTaken) => "another's number".to_owned(),
        Err(CarrierEventError::Failed(failed)) => panic!("{failed}"),
    }
}

async fn receive(app: &App, merchant: MerchantId, arrival: &Arrival, names: &[String]) -> String {
    let request = arrival.request(names);
    let message = wire::warehouse::receiving::read(request.as_bytes()).unwrap_or_else(|_| panic!("{request}"));
    let outcomes = match receive_units(app, merchant, &message.units.0).await {
        Ok(outcomes) => outcomes,
        Err(ReceiveUnitsError::NotManaged(_)) => return "refused".to_owned(),
        Err(error @ (ReceiveUnitsError::UnknownWarehouse(_) | ReceiveUnitsError::Failed(_))) => panic!("{error}"),
    };
    let outcome = |outcome: UnitOutcome| match outcome {
        UnitOutcome::Received(known) => format!("received {}", known.line),
        UnitOutcome::AlreadyReceived(known) => format!("already_received {}", known.line),
        UnitOutcome::Conflict(known) => format!("conflict {}", known.line),
        UnitOutcome::Exception(exception) => exception.to_string(),
    };
    outcomes.into_iter().map(outcome).collect::<Vec<_>>().join(", ")
}
