//! The console's pages on orders.

use domain::merchants::operator::Role;
use serde_json::json;

use crate::world::{World, message, plain_refund, refunded, sold};

#[tokio::test]
async fn an_order_stands_with_its_lines_warnings_refunds_and_returns() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O/1 a", 3).await;
    let rma = shop.merchant.starts_a_return("O/1 a", 1).await;
    let mut order = refunded(sold("O/1 a", 3), [plain_refund("F-1", 1)]);
    order["total_amount_cents"] = 16_201.into();
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["updated"]);
    let viewer = world.console(Role::Viewer).await;
    let page = viewer.get("/merchants/acme/orders/O%2F1%20a").await.page();
    assert!(page.contains("<h1>Order O/1 a</h1>") && page.contains("version 2"), "{page}");
    assert!(page.contains("on the last version") && page.contains("total_amount_cents"), "{page}");
    assert!(page.contains("$162.01") && page.contains("$162.00"), "stated, and added up: {page}");
    assert!(page.contains(&format!("/merchants/acme/returns/{rma}")) && page.contains("<code>F-1</code>"), "{page}");
    let line = r#"<td class="n" data-l="Ordered">3</td><td class="n" data-l="Shipped">3</td><td class="n" data-l="Cancelled">0</td><td class="n" data-l="In returns">1</td><td class="n" data-l="Refunded">1</td>"#;
    assert!(page.contains(line), "{page}");
    assert_eq!(viewer.get("/merchants/acme/orders/nothing").await.status, 404);
    assert_eq!(viewer.get("/merchants/acme/orders/no%00thing").await.status, 404);
}

#[tokio::test]
async fn orders_are_listed_by_merchant_with_filters_in_the_address() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut orders: Vec<_> = (1..=60).map(|number| sold(&format!("A-{number:02}"), 1)).collect();
    orders[4]["status"] = "Created".into();
    orders[4]["items"][0]["quantity_shipped"] = 0.into();
    orders[4]["items"][0]["product_amount_cents"] = 0.into();
    orders[4]["items"][0]["tax_amount_cents"] = json!(0);
    shop.merchant.publishes(&message(orders)).await;
    shop.merchant.sells("B-1", 1).await;
    shop.merchant.starts_a_return("A-07", 1).await;
    let viewer = world.console(Role::Viewer).await;
    let shown = async |query: &str| viewer.get(&format!("/orders{query}")).await.page();
    assert!(shown("").await.contains("Name a merchant"));
    let first = shown("?merchant=acme").await;
    assert!(first.contains("50 shown") && first.contains("<code>B-1</code>") && !first.contains("<code>A-11</code>"), "{first}");
    let second = shown("?merchant=acme&before=A-12").await;
    assert!(second.contains("11 shown") && second.contains("<code>A-11</code>") && !second.contains(">Next<"), "{second}");
    assert!(first.contains("merchant=acme&amp;before=A-12") || first.contains("merchant=acme&#38;before=A-12"), "{first}");
    assert!(shown("?merchant=acme&order=B").await.contains("1 shown"));
    let created = shown("?merchant=acme&status=Created").await;
    assert!(created.contains("1 shown") && created.contains("<code>A-05</code>"), "{created}");
    let returned = shown("?merchant=acme&has=returns").await;
    assert!(returned.contains("1 shown") && returned.contains("<code>A-07</code>"), "{returned}");
    assert!(shown("?merchant=acme&since=2027-01-01").await.contains("No order fits these filters"));
    assert!(shown("?merchant=nobody").await.contains("There is no merchant with this handle."));
}
