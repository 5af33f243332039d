//! However many shoppers ask, the service keeps to the limits of the merchant's system.

use std::sync::Arc;
use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::EndpointChange;
use futures::future::join_all;
use sandbox::merchant::Answer;

use crate::world::World;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_hundred_who_ask_for_the_same_share_one_call() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "60000")]).await;
    let shop = world.catalogue("acme").await;
    shop.systems.answer_next("/sku", [Answer::usual().held()]);
    let all = async {
        let asked = join_all((0..100).map(|_| shop.offers_for("A-1")));
        let released = async {
            shop.systems.wait_for_at("/sku", 1, SOON).await.unwrap();
            // Later requests find the answer.
            shop.systems.release();
        };
        tokio::join!(asked, released).0
    };
    let replies = tokio::time::timeout(SOON, all).await.unwrap();
    assert!(replies.iter().all(|reply| reply.skus() == ["SHOE-41", "SHOE-43"]));
    assert_eq!((shop.asked().len(), shop.reports().await), (1, vec!["1 200".to_owned()]));
}

#[tokio::test]
async fn whoever_stops_waiting_does_not_stop_the_others() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "60000")]).await;
    let shop = world.catalogue("acme").await;
    shop.systems.answer_next("/sku", [Answer::usual().held()]);
    let ask = || {
        let (app, merchant) = (world.app.clone(), shop.merchant.id);
        tokio::spawn(async move { app.variants.ask(&app, merchant, "V-SHOE").await.map(|variants| variants.len()) })
    };
    let first = ask();
    shop.systems.wait_for_at("/sku", 1, SOON).await.unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let second = ask();
    shop.systems.release();
    assert_eq!(tokio::time::timeout(SOON, second).await.unwrap().unwrap().unwrap(), 2);
    assert_eq!(shop.asked().len(), 1, "the first caller's request went on");
}

#[tokio::test]
async fn an_endpoint_that_hangs_has_no_more_calls_than_its_slots() {
    // Those without a slot give up two seconds before one is free again, so that not even a busy machine lets one of them in.
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "6000")]).await;
    let shop = world.catalogue_with("acme", EndpointChange { slots: Some(2), per_second: Some(1_000), ..EndpointChange::default() }).await;
    shop.systems.answer("/sku", Answer::hang());
    let (app, merchant) = (&world.app, shop.merchant.id);
    let asked = (0..10).map(|number| async move { app.variants.ask(app, merchant, &format!("V-{number}")).await.unwrap_err().to_string() });
    let refused = tokio::time::timeout(SOON, join_all(asked)).await.unwrap();
    assert_eq!(refused, vec!["no answer in time"; 10], "those without a slot give up too");
    assert_eq!((shop.systems.most_at_once(), shop.asked().len()), (2, 2));
    assert_eq!(shop.reports().await, ["2 timed out"], "a call that was not made does not count");
}

#[tokio::test]
async fn an_endpoint_has_no_more_calls_a_second_than_it_takes() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "300")]).await;
    let shop = world.catalogue_with("acme", EndpointChange { per_second: Some(2), ..EndpointChange::default() }).await;
    shop.systems.answer("/sku", Answer::ok().body("[]"));
    let (app, merchant) = (world.app.clone(), shop.merchant.id);
    let ask = async |identifier: &str| app.variants.ask(&app, merchant, identifier).await.is_ok();
    assert!(ask("1").await && ask("2").await && !ask("3").await);
    world.time_passes(Duration::from_millis(500));
    assert!(ask("3").await && !ask("4").await);
    assert_eq!(shop.asked().len(), 3);
}

#[tokio::test]
async fn what_is_known_takes_no_more_memory_than_it_may() {
    let world = World::new().await;
    let shop =
        world.catalogue_with("acme", EndpointChange { slots: Some(100), per_second: Some(100_000), ..EndpointChange::default() }).await;
    let big: Arc<str> = format!(r#"[{{"sku":"{}","unit_price_amount_cents":1,"quantity_in_stock":1}}]"#, "x".repeat(60_000)).into();
    shop.systems.answer("/sku", Answer::ok().body(big.to_string()));
    let (app, merchant) = (&world.app, shop.merchant.id);
    for chunk in 0..10 {
        let asked = (0..100).map(|number| async move { app.variants.ask(app, merchant, &format!("V-{chunk}-{number}")).await.unwrap() });
        join_all(asked).await;
    }
    assert!(app.variants.bytes_cached() <= 32 * 1024 * 1024, "{}", app.variants.bytes_cached());
    assert!(app.variants.bytes_cached() > 8 * 1024 * 1024, "{}", app.variants.bytes_cached());
}
