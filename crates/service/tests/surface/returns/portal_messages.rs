//! The messages that returns through the portal lead to.

use domain::money::Cents;
use domain::returns::rma::Method;
use domain::returns::rma::policy::{Offer, Policy};
use serde_json::{Value, json};

use crate::world::{World, and_socks, message, sold, with_gift_cards};

/// The forms that a shopper sends from choosing the goods to choosing the way back: pages and their fields.
type Forms = Vec<(&'static str, Vec<(&'static str, &'static str)>)>;

/// A unit of the first line for a refund by this method.
fn refund(method: &'static str) -> (Forms, Value) {
    let forms = vec![
        ("items", vec![("line", "L1"), ("quantity-1", "1")]),
        ("items/1/reason", vec![("reason", "TOO_SMALL")]),
        ("items/1/instead", vec![("instead", "refund")]),
        ("how", vec![("how", method)]),
    ];
    let items = json!([{ "order_line_item_identifier": "L1", "quantity": 1, "return_reason": "TOO_SMALL" }]);
    (forms, wanted(method, &items))
}

/// Several units of two lines.
fn several() -> (Forms, Value) {
    let forms = vec![
        ("items", vec![("line", "L1"), ("quantity-1", "2"), ("line", "L2"), ("quantity-2", "1")]),
        ("items/1/reason", vec![("reason", "TOO_SMALL")]),
        ("items/1/instead", vec![("instead", "refund")]),
        ("items/2/reason", vec![("reason", "DAMAGED")]),
        ("items/2/instead", vec![("instead", "refund")]),
        ("how", vec![("how", "mail-back")]),
    ];
    let items = json!([
        { "order_line_item_identifier": "L1", "quantity": 2, "return_reason": "TOO_SMALL" },
        { "order_line_item_identifier": "L2", "quantity": 1, "return_reason": "DAMAGED" },
    ]);
    (forms, wanted("mail-back", &items))
}

/// Another size.
fn exchange() -> (Forms, Value) {
    let forms = vec![
        ("items", vec![("line", "L1"), ("quantity-1", "1")]),
        ("items/1/reason", vec![("reason", "TOO_SMALL")]),
        ("items/1/instead", vec![("instead", "exchange")]),
        ("items/1/exchange", vec![("sku", "SHOE-43")]),
        ("how", vec![("how", "express-returns")]),
    ];
    let items = json!([{ "order_line_item_identifier": "L1", "quantity": 1, "return_reason": "TOO_SMALL", "exchange_sku": "SHOE-43" }]);
    (forms, wanted("express-returns", &items))
}

/// A gift card, with no reason given.
fn gift_card() -> (Forms, Value) {
    let forms = vec![
        ("items", vec![("line", "L1"), ("quantity-1", "1")]),
        ("items/1/reason", vec![]),
        ("items/1/instead", vec![("instead", "gift-card")]),
        ("how", vec![("how", "mail-back")]),
    ];
    let items = json!([{ "order_line_item_identifier": "L1", "quantity": 1, "return_reason": "NOT_GIVEN", "gift_card": true }]);
    (forms, wanted("mail-back", &items))
}

/// Another size of one item and a gift card for another.
fn exchange_and_gift_card() -> (Forms, Value) {
    let forms = vec![
        ("items", vec![("line", "L1"), ("quantity-1", "1"), ("line", "L2"), ("quantity-2", "1")]),
        ("items/1/reason", vec![("reason", "TOO_SMALL")]),
        ("items/1/instead", vec![("instead", "exchange")]),
        ("items/1/exchange", vec![("sku", "SHOE-41")]),
        ("items/2/reason", vec![("reason", "DAMAGED")]),
        ("items/2/instead", vec![("instead", "gift-card")]),
        ("how", vec![("how", "mail-back")]),
    ];
    let items = json!([
        { "order_line_item_identifier": "L1", "quantity": 1, "return_reason": "TOO_SMALL", "exchange_sku": "SHOE-41" },
        { "order_line_item_identifier": "L2", "quantity": 1, "return_reason": "DAMAGED", "gift_card": true },
    ]);
    (forms, wanted("mail-back", &items))
}

/// The request to the API.
fn wanted(method: &str, items: &Value) -> Value {
    json!({ "order_identifier": "A-1", "return_method": method, "items": items })
}

/// Starts a return in a world of its own, through the portal or through the API. Returns its RMA messages.
async fn messages(forms: &Forms, wanted: &Value, through_the_portal: bool) -> Vec<String> {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let offers = [Method::MailBack, Method::ExpressReturns, Method::CustomerKeep];
    let fee = |method| Offer { method, fee: Cents::new(299).unwrap(), deducted: true };
    boutique.shop.merchant.has_policy(&Policy { offers: offers.map(fee).to_vec(), ..with_gift_cards() }).await;
    let mut order = and_socks(sold("A-1", 3), 1);
    for line in order["items"].as_array_mut().unwrap() {
        line["weight"] = 1.into();
    }
    assert_eq!(boutique.shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    // The same seed, and nothing drawn from it before the return is started.
    let node = world.another_node(7).await;
    if through_the_portal {
        let mut pat = world.shopper("acme");
        let mut page = pat.finds("A-1", "10001").await;
        for (path, fields) in forms {
            page = pat.sends(path, fields).await;
        }
        assert_eq!(page.heading(), "Check before you confirm");
        pat.moves_to(&node);
        let confirmed = pat.sends_once("check", &[("draft", &page.field("draft")), ("revision", &page.field("revision"))]).await;
        assert_eq!(confirmed.status, 303);
    } else {
        let request = world.client.post(format!("{}/v1/returns", node.base)).bearer_auth(&boutique.shop.merchant.token);
        assert_eq!(request.json(wanted).send().await.unwrap().status(), 201, "{wanted}");
    }
    world.database.texts("select body from message where kind = 'rma' order by message_id").await
}

#[tokio::test]
async fn the_message_of_a_return_is_byte_for_byte_that_of_the_same_return_through_the_api() {
    for (forms, wanted) in [
        refund("mail-back"),
        refund("express-returns"),
        refund("customer-keep"),
        several(),
        exchange(),
        gift_card(),
        exchange_and_gift_card(),
    ] {
        let [portal, api] = [messages(&forms, &wanted, true).await, messages(&forms, &wanted, false).await];
        assert_eq!(portal.len(), 1, "{wanted}");
        assert_eq!(portal, api, "{wanted}");
    }
}
