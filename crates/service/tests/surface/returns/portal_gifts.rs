//! Gifts in the portal: whoever was given the goods returns them, sees no prices, and the buyer does not learn of it.

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use reqwest::StatusCode;
use serde_json::json;

use crate::world::shopper::{Page, Shopper};
use crate::world::{Shop, World, message, refund_for, refunded, sold};

const GIFTEE: &str = "lin@example.com";

impl World {
    /// A shop that has sold two units as a gift, in the order A-1.
    async fn shop_with_a_gift(&self) -> Shop<'_> {
        let shop = self.shop("acme").await;
        assert_eq!(shop.merchant.publishes(&message([gift()])).await.results(), ["created"]);
        shop
    }
}

fn gift() -> serde_json::Value {
    let mut gift = sold("A-1", 2);
    gift["tags"] = json!(["gift"]);
    gift
}

impl Page {
    /// Asserts that it tells no amount.
    fn tells_no_amount(&self) {
        assert!(!self.html.contains('$'), "{}", self.reads());
    }
}

impl Shopper {
    /// Goes from the items to the last page.
    async fn returns_a_gift(&self) -> Page {
        self.sends("items", &[("line", "L1"), ("giftee", GIFTEE)]).await.tells_no_amount();
        self.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await.tells_no_amount();
        self.sends("how", &[("how", "mail-back")]).await
    }
}

#[tokio::test]
async fn a_gift_is_returned_without_prices_and_refunded_to_whoever_returns_it() {
    let world = World::new().await;
    let shop = world.shop_with_a_gift().await;
    let lin = world.shopper("acme");
    let items = lin.finds("A-1", "10001").await;
    assert!(items.says("This was a gift, so you see no prices"), "{}", items.reads());
    items.tells_no_amount();
    let check = lin.returns_a_gift().await;
    assert_eq!(check.heading(), "Check before you confirm");
    assert!(check.says("It goes to lin@example.com") && check.says("Gift card for what it is worth"), "{}", check.reads());
    check.tells_no_amount();
    let done = lin.confirms(&check).await;
    assert_eq!(done.heading(), "Your return is confirmed");
    done.tells_no_amount();

    let (_, told) = shop.receives().await.remove(0);
    assert_eq!((&told["gift_refund_only"], &told["giftee_email"]), (&json!(true), &json!(GIFTEE)));
    let status = lin.opens("returns").await;
    assert!(status.says("Gift card By e-mail"), "{}", status.reads());
    status.tells_no_amount();
    let rma = done.rma();
    assert_eq!(shop.merchant.publishes(&message([refunded(gift(), [refund_for(&rma, "F-1", 1)])])).await.results(), ["updated"]);
    let status = lin.opens("returns").await;
    assert_eq!(status.heading(), "Your return is complete");
    assert!(status.says("Done: Sent to you"), "{}", status.reads());
    status.tells_no_amount();
}

#[tokio::test]
async fn the_buyer_does_not_learn_of_the_return_of_a_gift() {
    let world = World::new().await;
    let _shop = world.shop_with_a_gift().await;
    let (lin, buyer) = (world.shopper("acme"), world.shopper("acme"));
    lin.finds("A-1", "10001").await;
    let check = lin.returns_a_gift().await;
    let items = buyer.finds("A-1", "pat@example.com").await;
    assert_eq!(items.heading(), "What would you like to send back?", "the draft of another session is not there");
    assert!(!items.html.contains(GIFTEE) && !items.html.contains("checked"));

    let done = lin.confirms(&check).await;
    let rma = done.rma();
    let items = buyer.opens("returns").await;
    assert_eq!(items.heading(), "What would you like to send back?");
    assert!(items.says("1 of 2 can come back. This can’t be returned here."), "{}", items.reads());
    for page in [format!("returns/{rma}"), format!("returns/{rma}/done"), format!("returns/{rma}/label"), format!("returns/{rma}/cancel")] {
        assert_eq!(buyer.opens(&page).await.status, StatusCode::NOT_FOUND, "{page}");
    }
    assert_eq!(lin.opens("returns").await.heading(), "Waiting for you to send it");
}

#[tokio::test]
async fn a_gift_needs_an_address_and_the_latest_session_has_the_draft() {
    let world = World::new().await;
    let _shop = world.shop_with_a_gift().await;
    let (lin, buyer) = (world.shopper("acme"), world.shopper("acme"));
    lin.finds("A-1", "10001").await;
    for wrong in ["", "lin", "lin@"] {
        let items = lin.sends("items", &[("line", "L1"), ("giftee", wrong)]).await;
        assert!(items.says("Enter your e-mail, such as name@example.com"), "{wrong}: {}", items.reads());
    }
    let check = lin.returns_a_gift().await;
    buyer.finds("A-1", "pat@example.com").await;
    buyer.returns_a_gift().await;
    let stale = lin.confirms(&check).await;
    assert_eq!(stale.heading(), "What would you like to send back?", "nothing was confirmed that another session has changed");
}

#[tokio::test]
async fn erasing_the_orders_shopper_deletes_the_giftees_address_in_a_draft() {
    let world = World::new().await;
    let shop = world.shop_with_a_gift().await;
    let lin = world.shopper("acme");
    lin.finds("A-1", "10001").await;
    lin.returns_a_gift().await;
    let mut connection = world.database.connect().await;
    let mut drafts =
        async || -> Vec<String> { sqlx::query_scalar("select answers from return_draft").fetch_all(&mut connection).await.unwrap() };
    assert!(drafts().await.concat().contains(GIFTEE));
    erase_shopper(&world.app, "test", shop.merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    assert!(drafts().await.is_empty());
}
