//! Refunds that merchants report while an exchange order is owed. The shopper always ends with goods or money, never with both and
//! never with neither.

use reqwest::Method;
use sandbox::merchant::Mood;
use serde_json::{Value, json};

use crate::binary::{backhaul, out};
use crate::world::{Boutique, World, message, refund_for, refunded, sold};

impl Boutique<'_> {
    /// Starts an exchange whose order is owed, and reports a refund for its unit.
    async fn refunded_while_the_exchange_is_owed(&self) -> String {
        self.orders.mood(Mood::Refusing(500));
        let rma = self.exchanges("A-1").await;
        self.refunds(&[refund_for(&rma, "F1", 1)]).await;
        assert_eq!(self.shop.stands(&rma).await, "CREATED: F1");
        rma
    }

    async fn refunds(&self, refunds: &[Value]) {
        let reply = self.shop.merchant.publishes(&message([refunded(sold("A-1", 1), refunds.to_vec())])).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }

    async fn confirms(&self, rma: &str) -> (u16, Value) {
        let reply = self.shop.merchant.calls(Method::POST, &format!("/v1/returns/{rma}/confirm_refund"), |request| request).await;
        (reply.status.as_u16(), reply.body)
    }

    async fn last_message(&self) -> (String, Value) {
        self.shop.receives().await.pop().unwrap()
    }
}

#[tokio::test]
async fn a_refund_that_came_before_the_exchange_was_placed_is_the_merchant_settling_with_the_service() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.refunded_while_the_exchange_is_owed().await;
    boutique.orders.mood(Mood::Willing);
    boutique.everything_is_tried().await;
    assert_eq!(boutique.shop.stands(&rma).await, "REFUNDED: F1");
    assert_eq!(boutique.refunds_of(&rma).await, [("EVEN_EXCHANGE".to_owned(), 0)], "the shopper has the goods");
    assert_eq!((boutique.cases().await, boutique.confirms(&rma).await.0), (vec![], 409));
}

#[tokio::test]
async fn a_refund_that_came_before_the_exchange_was_converted_settles_nothing_until_it_is_confirmed() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.refunded_while_the_exchange_is_owed().await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    let shown = boutique.shop.merchant.looks_at(&rma).await;
    assert_eq!(
        (&shown["status"], &shown["items"][0]["refund_in_question"], &shown["can_cancel"]),
        (&json!("CREATED"), &json!(true), &json!(false))
    );
    assert_eq!(boutique.refunds_of(&rma).await, [("REFUND".to_owned(), 5_400)], "the shopper is owed the money");
    assert_eq!(boutique.cases().await, [format!("refund_in_question {rma}")]);
    let question = world.database.texts("select reason from work_item").await;
    assert_eq!(question, ["refunded while the exchange order was owed: is this the shopper's money?"]);
    let (event, body) = boutique.last_message().await;
    assert_eq!((event.as_str(), &body["status"]), ("rma.exchange_converted", &json!("CREATED")));

    let (status, confirmed) = boutique.confirms(&rma).await;
    assert_eq!((status, &confirmed["status"], &confirmed["items"][0]["refund_in_question"]), (200, &json!("REFUNDED"), &json!(false)));
    assert_eq!((boutique.shop.stands(&rma).await.as_str(), boutique.cases().await), ("REFUNDED: F1", vec![]));
    assert_eq!(boutique.last_message().await.0, "rma.refunded");
    let (status, again) = boutique.confirms(&rma).await;
    assert_eq!((status, &again["message"]), (409, &json!("No refund of the return is in question; there is nothing to confirm.")));
    assert_eq!(boutique.confirms("R-2222-2222").await.0, 404);
}

#[tokio::test]
async fn the_operator_confirms_a_refund_in_question_by_command() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.refunded_while_the_exchange_is_owed().await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    let done = out(&backhaul(&world.database, &["returns", "confirm-refund", "--merchant", "acme", &rma]));
    assert!(done.contains("REFUNDED"), "{done}");
    assert_eq!(boutique.shop.stands(&rma).await, "REFUNDED: F1");
    let audited = world.database.texts("select action || ' ' || detail from audit where action = 'refund.confirmed'").await;
    assert_eq!(audited, [format!("refund.confirmed {rma}")]);
}

#[tokio::test]
async fn another_refund_settles_a_unit_whose_first_refund_is_in_question() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let rma = boutique.refunded_while_the_exchange_is_owed().await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    boutique.refunds(&[refund_for(&rma, "F1", 1)]).await;
    assert_eq!(boutique.shop.merchant.looks_at(&rma).await["status"], "CREATED", "the same refund again is no answer");
    boutique.refunds(&[refund_for(&rma, "F1", 1), refund_for(&rma, "F2", 1)]).await;
    assert_eq!((boutique.shop.stands(&rma).await.as_str(), boutique.cases().await), ("REFUNDED: F2", vec![]));
}
