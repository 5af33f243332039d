//! Merchants' answers to exchange orders, settled as the delivery engine settles them, and the operator's actions on them.

use backhaul::app::App;
use backhaul::delivery::reaction::{Call, Ending, Followed, How, Reaction as _};
use backhaul::delivery::settling::settle_and_react;
use backhaul::flow::messages::retry_message::{Asker, RetryMessageError, retry_message};
use backhaul::flow::returns::convert_exchange::{ConvertExchangeError, convert_exchange};
use backhaul::flow::returns::place_exchange::ExchangeAnswered;
use domain::id::{EndpointId, MerchantId};
use serde_json::json;
use sqlx::{PgConnection, Row as _};
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settlement};
use uuid::Uuid;

use super::super::step::{Answer, exchange_order_name};

/// An exchange order that is still owed.
struct OwedOrder {
    message: Uuid,
    endpoint: EndpointId,
    hold: Hold,
    attempts: i16,
    attempts_before: i16,
    /// True in a round of attempts that somebody started by hand.
    by_hand: bool,
}

/// Delivers the exchange order of the return `name`, and settles it with this answer.
pub async fn answer(app: &App, connection: &mut PgConnection, merchant: MerchantId, name: &str, answer: Answer, last: bool) -> String {
    let Some(order) = owed(connection, merchant, name).await else { return "not owed".to_owned() };
    let OwedOrder { message, endpoint, hold, attempts, attempts_before, by_hand } = order;
    let (now, number) = (app.now(), attempts_before + attempts + 1);
    let mut attempt = Attempt {
        hold,
        id: app.mint(),
        merchant,
        message,
        endpoint,
        started_at: now,
        took_ms: 0,
        number,
        by_hand,
        status: None,
        outcome: settlements::UNKNOWN.to_owned(),
        reason: None,
        answer: None,
        counted_as: Some("exchange_order"),
    };
    assert!(settlements::announce(app.cell(), &attempt).await.unwrap());
    let reaction = ExchangeAnswered(app.clone());
    let (disposition, how) = match answer {
        Answer::Unheard => return "unheard".to_owned(),
        Answer::Placed(number) => {
            let body = json!({ "order_identifier": exchange_order_name(number) }).to_string();
            (Disposition::Finished, Some(How::Delivered(200, body.into())))
        }
        Answer::Nameless => (Disposition::Finished, Some(How::Delivered(200, bytes::Bytes::new()))),
        Answer::Status(_) | Answer::Silence if last => {
            (Disposition::Failed { attempts: number, reason: "the test".to_owned(), failed_at: now }, Some(How::GivenUp))
        }
        Answer::Status(_) | Answer::Silence => {
            let minded =
                if let Answer::Status(status) = answer { Some(status).filter(|status| reaction.handles_refusal(*status)) } else { None };
            (Disposition::Postponed { due_at: now, attempts: attempts + 1 }, minded.map(How::Refused))
        }
    };
    let ended = match disposition {
        Disposition::Finished => "delivered",
        Disposition::Postponed { .. } => "postponed",
        Disposition::Failed { .. } => "abandoned",
        Disposition::Withdrawn | Disposition::Parked => unreachable!(),
    };
    attempt.status = answer.status().map(|status| i16::try_from(status).unwrap());
    attempt.outcome = attempt.status.map_or_else(|| "timed out".to_owned(), |status| status.to_string());
    let calls = vec![Call { id: attempt.id, status: answer.status() }];
    let settlement = Settlement { hold, merchant, message, disposition };
    let Some(how) = how else {
        let settled = settlements::settle(app.cell(), &[&settlement], &[&attempt], now).await.unwrap();
        assert_eq!(settled.held, [hold]);
        return ended.to_owned();
    };
    let ending = Ending { message, at: now, number, calls, refusal: b"".as_slice().into(), how };
    let reacted = settle_and_react(app, Some((&reaction, &ending)), &settlement, &[attempt], now).await.unwrap();
    assert_eq!(reacted.settled.held, [hold]);
    if reacted.followed == Followed::Withdrawn { "withdrawn" } else { ended }.to_owned()
}

pub async fn convert(app: &App, merchant: MerchantId, name: &str) -> &'static str {
    match convert_exchange(app, "test", merchant, name, true).await {
        Ok(()) => "converted",
        Err(ConvertExchangeError::NoSuchReturn) => "no such return",
        Err(ConvertExchangeError::NoExchange) => "no exchange",
        Err(ConvertExchangeError::Ended(_)) => "ended",
        Err(ConvertExchangeError::StillOwed) => "still owed",
        Err(ConvertExchangeError::Settled) => "settled",
        Err(error @ (ConvertExchangeError::Unconfirmed(_) | ConvertExchangeError::Failed(_))) => panic!("{error}"),
    }
}

pub async fn retry(app: &App, connection: &mut PgConnection, merchant: MerchantId, name: &str) -> &'static str {
    let query = "select message_id from exchange_order join rma using (merchant_id, rma_id) where merchant_id = $1 and identifier = $2";
    let row = sqlx::query(query).bind(merchant.0).bind(name).fetch_optional(connection).await.unwrap();
    let Some(message) = row.map(|row| row.get(0)) else { return "no exchange" };
    match retry_message(app, Asker::Merchant, merchant, message).await {
        Ok(_) => "retried",
        Err(RetryMessageError::StillOwed) => "still owed",
        Err(RetryMessageError::Converted) => "over",
        Err(other) => panic!("{other}"),
    }
}

async fn owed(connection: &mut PgConnection, merchant: MerchantId, name: &str) -> Option<OwedOrder> {
    let query = "
        select message_id, endpoint_id, bucket, epoch, attempts, attempts_before, lane = message_id::text as by_hand
        from rma
        join exchange_order using (merchant_id, rma_id)
        join delivery using (merchant_id, message_id)
        join endpoint using (merchant_id, endpoint_id)
        join delivery_bucket using (bucket)
        where merchant_id = $1 and identifier = $2";
    // A settlement needs an owner of the bucket.
    let lease = "update delivery_bucket set owner = $1, leased_until = 'infinity' where owner is null";
    sqlx::query(lease).bind(Uuid::nil()).execute(&mut *connection).await.unwrap();
    let row = sqlx::query(query).bind(merchant.0).bind(name).fetch_optional(connection).await.unwrap()?;
    Some(OwedOrder {
        message: row.get("message_id"),
        endpoint: EndpointId(row.get("endpoint_id")),
        hold: Hold { bucket: u8::try_from(row.get::<i16, _>("bucket")).unwrap(), epoch: row.get("epoch"), owner: Uuid::nil() },
        attempts: row.get("attempts"),
        attempts_before: row.get("attempts_before"),
        by_hand: row.get("by_hand"),
    })
}
