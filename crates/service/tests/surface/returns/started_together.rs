//! Returns that are started at the same time share a transaction, and each ends as if it had come alone.

use backhaul::flow::returns::start_return::{StartReturnError, start_return};
use domain::id::MerchantId;
use futures::future::join_all;
use sandbox::mailbox::Mailbox;
use serde_json::{Value, json};
use store::Failed;

use super::mails;
use crate::world::{World, mail_back, message, sold};

async fn starts(world: &World, merchant: MerchantId, wanted: Value) -> Result<Value, StartReturnError> {
    let text = wanted.to_string();
    let wanted = wire::returns::api::read(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    let started = start_return(&world.app, None, merchant, &wanted, None).await?;
    Ok(serde_json::from_str(&started.answer).unwrap())
}

#[tokio::test]
async fn returns_at_the_same_time_share_a_transaction() {
    let world = World::new().await;
    let shops = [world.shop("acme").await, world.shop("apex").await];
    let mut wanted = Vec::new();
    for shop in &shops {
        for number in 0..4 {
            let order = format!("A-{number}");
            shop.merchant.sells(&order, 3).await;
            wanted.push((shop.merchant.id, mail_back(&order, 2)));
        }
    }
    let started = join_all(wanted.iter().map(async |(of, wanted)| starts(&world, *of, wanted.clone()).await.unwrap())).await;

    // Rows that one transaction wrote have its number. The first came alone.
    let database = &world.database;
    let transactions = database.texts("select count(distinct xmin::text)::text from rma").await;
    assert!(transactions[0].parse::<usize>().unwrap() < wanted.len(), "{transactions:?}");
    for ((of, _), started) in wanted.iter().zip(&started) {
        let shop = shops.iter().find(|shop| shop.merchant.id == *of).unwrap();
        let shown = shop.merchant.looks_at(started["rma_identifier"].as_str().unwrap()).await;
        assert_eq!(&shown, started, "the answer is the return as it was written");
    }
    for shop in &shops {
        assert_eq!(shop.receives_events().await, ["rma.created"; 4]);
        let left = shop.merchant.asks_what_can_come_back("A-3").await;
        assert_eq!(left["items"][0]["returnable"], 1, "{left}");
    }
    assert_eq!((database.count("unit_claim").await, database.count("rma_item").await), (16, 16));
    let positions = database.texts("select position::text from message where position > 0 order by merchant_id, message.position").await;
    assert_eq!(positions, ["1", "2", "3", "4", "1", "2", "3", "4"]);
    assert_eq!(database.texts("select distinct has_returns::text from customer_order").await, ["true"]);
}

#[tokio::test]
async fn a_return_in_a_batch_ends_as_if_it_had_come_alone() {
    let world = World::new().await;
    let (shop, away) = (world.shop("acme").await, world.shop("apex").await);
    let carried = world.shop_with_a_carrier("atlas").await;
    let of = shop.merchant.id;
    for order in ["A-1", "A-2", "A-3", "A-4"] {
        shop.merchant.sells(order, 2).await;
    }
    away.merchant.sells("B-1", 1).await;
    carried.shop.merchant.sells("C-1", 1).await;
    let gift = json!({ "order_identifier": "A-4", "return_method": "mail-back", "giftee_email": "pat@example.com",
        "items": [{ "order_line_item_identifier": "L1", "quantity": 1 }] });

    let (first, plain, again, too_many, unknown, not_a_gift, labelled) = tokio::join!(
        starts(&world, of, mail_back("A-1", 1)),
        starts(&world, of, mail_back("A-2", 2)),
        starts(&world, of, mail_back("A-2", 1)),
        starts(&world, of, mail_back("A-3", 3)),
        starts(&world, of, mail_back("A-9", 1)),
        starts(&world, of, gift),
        starts(&world, carried.shop.merchant.id, mail_back("C-1", 1)),
    );
    assert_eq!(first.unwrap()["items"].as_array().unwrap().len(), 1);
    assert_eq!(plain.unwrap()["items"].as_array().unwrap().len(), 2);
    for refused in [again, too_many, not_a_gift] {
        assert!(matches!(&refused, Err(StartReturnError::Faulty(faults)) if faults.len() == 1), "{refused:?}");
    }
    assert!(matches!(unknown, Err(StartReturnError::NoSuchOrder)));
    assert_eq!(labelled.unwrap()["label"]["state"], "ordered");
    assert_eq!(world.database.count("rma").await, 3);

    // A merchant that has moved is refused, and the others are not.
    let closed = format!("insert into moved_merchant values ('{}', 'elsewhere', true, now())", away.merchant.id.0);
    sqlx::raw_sql(sqlx::AssertSqlSafe(closed)).execute(&mut world.database.connect().await).await.unwrap();
    let (first, refused, third) = tokio::join!(
        starts(&world, of, mail_back("A-1", 1)),
        starts(&world, away.merchant.id, mail_back("B-1", 1)),
        starts(&world, of, mail_back("A-3", 2)),
    );
    assert!(matches!(refused, Err(StartReturnError::Failed(Failed::Moved))));
    assert!(first.is_ok() && third.is_ok());
}

#[tokio::test]
async fn returns_at_the_same_time_are_each_confirmed_by_mail() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = mails::world(&mailbox).await;
    let shop = world.shop("acme").await;
    let of = shop.merchant.id;
    shop.merchant.publishes(&message(["A-1", "A-2", "A-3", "A-4"].map(|order| sold(order, 1)))).await;
    let start = async |order: &str| starts(&world, of, mail_back(order, 1)).await.unwrap();
    tokio::join!(start("A-1"), start("A-2"), start("A-3"), start("A-4"));
    world.deliver_all_due().await;
    assert_eq!(mailbox.received().len(), 4);
}

/// Nobody waits for an order that somebody else holds: neither behind it nor together with it.
#[tokio::test]
async fn an_order_that_is_held_holds_up_nobody_else() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let of = shop.merchant.id;
    shop.merchant.publishes(&message(["A-1", "A-2", "A-3", "A-4", "A-5"].map(|order| sold(order, 1)))).await;
    let mut other = world.database.connect().await;
    let held = "begin; select from customer_order where identifier in ('A-1', 'A-2') for update";
    sqlx::raw_sql(held).execute(&mut other).await.unwrap();

    let start = async |order: &str| starts(&world, of, mail_back(order, 1)).await.unwrap();
    let held_up = async { tokio::join!(start("A-1"), start("A-2")) };
    let others = async {
        tokio::join!(start("A-3"), start("A-4"), start("A-5"));
        sqlx::raw_sql("commit").execute(&mut other).await.unwrap();
    };
    tokio::join!(held_up, others);
    assert_eq!(shop.receives_events().await, ["rma.created"; 5]);
}
