//! Shipments that are sent in several messages: 500 units each, under numbers with a suffix.

use serde_json::Value;

use crate::world::World;
use crate::world::warehouse::{carton, lines};

fn numbers(received: &[crate::world::warehouse::AsnMessage]) -> Vec<String> {
    received.iter().map(|message| message.body["asn_number"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_large_shipment_is_split_and_the_split_stays() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    // Two cartons, filled by turns.
    for chunk in 0..3 {
        let (first, second) = (chunk * 500 + 1..chunk * 500 + 251, chunk * 500 + 251..chunk * 500 + 501);
        let reply = dock.merchant.packs("A-1", [carton("C-1", first), carton("C-2", second)]).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    dock.merchant.packs("A-1", [carton("C-3", [9_001])]).await;
    let shown = dock.merchant.does("announce", "A-1").await;
    assert_eq!(shown["sent_as"], serde_json::json!(["A-1_1", "A-1_2", "A-1_3", "A-1_4"]));
    let announced = dock.receives().await;
    assert_eq!(numbers(&announced), ["A-1_1", "A-1_2", "A-1_3", "A-1_4"]);
    let split: Vec<Vec<String>> = announced.iter().map(|message| lines(&message.body)).collect();
    assert_eq!(split.iter().map(Vec::len).collect::<Vec<_>>(), [500, 500, 500, 1]);
    let mut all: Vec<&String> = split.iter().flatten().collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 1_501, "disjoint and complete");
    let cartons = |body: &Value| -> Vec<String> {
        body["cartons"].as_array().unwrap().iter().map(|carton| carton["identifier"].as_str().unwrap().to_owned()).collect()
    };
    let spans: Vec<Vec<String>> = announced.iter().map(|message| cartons(&message.body)).collect();
    assert_eq!(spans, [vec!["C-1"], vec!["C-1", "C-2"], vec!["C-2"], vec!["C-3"]], "a carton that spans messages is in each");

    for (verb, sequence) in [("postpone", "2"), ("ship", "3"), ("deliver", "4")] {
        match verb {
            "postpone" => assert_eq!(dock.merchant.postpones("A-1", "2026-03-09T08:00:00Z").await.status, 200),
            verb => drop(dock.merchant.does(verb, "A-1").await),
        }
        let received = dock.receives().await;
        assert_eq!(numbers(&received), ["A-1_1", "A-1_2", "A-1_3", "A-1_4"], "{verb}");
        assert!(received.iter().all(|message| message.sequence == sequence), "each part counts for itself");
        assert_eq!(received.iter().map(|message| lines(&message.body)).collect::<Vec<_>>(), split, "{verb}");
    }
}

#[tokio::test]
async fn five_hundred_units_are_one_message_without_a_suffix() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let longest = "a".repeat(248);
    for (number, units) in [("A-1", 1..501), (longest.as_str(), 501..1_002)] {
        dock.merchant.makes(number).await;
        dock.merchant.adds(number, units).await;
        dock.merchant.does("ship", number).await;
    }
    let received = dock.receives().await;
    let mut sent = numbers(&received);
    sent.sort();
    assert_eq!(sent, ["A-1".to_owned(), format!("{longest}_1"), format!("{longest}_2")]);
}

#[tokio::test]
async fn no_two_messages_ever_carry_one_number() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    // The part with that number comes second.
    dock.merchant.makes("A").await;
    dock.merchant.makes("A_2").await;
    dock.merchant.adds("A", 1..601).await;
    for verb in ["announce", "ship"] {
        let reply = dock.merchant.asks_to(verb, "A").await;
        assert_eq!(reply.status, 409);
        assert!(reply.text.contains("would be sent as A_2"), "{}", reply.text);
    }
    assert_eq!(dock.receives_events().await, Vec::<String>::new(), "nothing was sent");
    assert_eq!(world.database.texts("select number from asn_number order by number").await, ["A", "A_2"]);
    dock.merchant.does("cancel", "A").await;
    // The part with that number comes first.
    dock.merchant.makes("B").await;
    dock.merchant.adds("B", 1..601).await;
    dock.merchant.does("ship", "B").await;
    let taken = dock.merchant.ships(&crate::world::warehouse::freight("B_1")).await;
    assert_eq!(taken.status, 409);
    assert!(taken.text.contains("a part of one"), "{}", taken.text);
    dock.merchant.makes("B_3").await;
    assert_eq!(dock.receives_events().await, ["B_1 shipped 1", "B_2 shipped 1"]);
}
