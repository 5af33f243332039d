//! The sample from docs/exchanges.md, a merchant's system in one file, run unchanged.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use backhaul::flow::messages::configure_endpoint::{EndpointChange, rotate_secret, set_endpoint};
use chrono::TimeDelta;
use domain::messages::message::Interface;
use domain::returns::rma::policy::Policy;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::world::{World, exchange, with_gift_cards};

/// The running sample. It ends with the test, and its file is deleted.
struct Sample {
    child: Child,
    base: String,
    dir: PathBuf,
}

impl Sample {
    fn start(secret: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("backhaul-sample-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        let mut child = Command::new("python3")
            .args([concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/exchange_server.py"), "0"])
            .env("WEBHOOK_SECRET", secret)
            .current_dir(&dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("python3: {error}; `make setup` installs it"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("listening on port ").unwrap_or_else(|| panic!("it says {line:?}"));
        Self { base: format!("http://127.0.0.1:{port}"), child, dir }
    }

    /// The units of a SKU that it has left.
    async fn stock(&self, world: &World, sku: &str) -> i64 {
        let answer: Value = world.client.get(format!("{}/sku/V-SHOE/variants", self.base)).send().await.unwrap().json().await.unwrap();
        let variant = answer["variants"].as_array().unwrap().iter().find(|variant| variant["sku"] == sku).unwrap();
        variant["quantity_in_stock"].as_i64().unwrap()
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[tokio::test]
async fn the_sample_server_places_an_exchange_and_a_gift_card_once_however_often_it_is_asked() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "60000")]).await;
    // The sample checks the time of signatures, so this node uses the system clock.
    let node = world.node_with_a_clock_wrong_by(TimeDelta::zero()).await;
    store::messages::partitions::make(node.app.cell(), node.app.now() - TimeDelta::days(1), 3).await.unwrap();
    let boutique = node.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.has_policy(&Policy { window_days: 3_650, ..with_gift_cards() }).await;
    let secret = rotate_secret(&node.app, "test", merchant.id, Interface::ExchangeOrder).await.unwrap();
    let sample = Sample::start(secret.expose_secret());
    for interface in [Interface::ExchangeVariants, Interface::ExchangeOrder] {
        let change = EndpointChange { url: Some(format!("{}{}", sample.base, interface.path())), ..EndpointChange::default() };
        set_endpoint(&node.app, "test", merchant.id, interface, change).await.unwrap();
    }

    merchant.sells("A-1", 2).await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L1", "gift_card": true }));
    let rma = boutique.starts(&wanted).await;
    assert_eq!(boutique.shop.receives_events().await, ["rma.created", "rma.exchange_placed"]);
    let placed = ("placed".to_owned(), Some("X-A-1".to_owned()));
    assert_eq!(boutique.exchange_of(&rma).await, placed);
    let kept = &merchant.looks_at(&rma).await["exchange"];
    assert_eq!((&kept["total_amount_cents"], &kept["gift_card_amount_cents"]), (&json!(5_400), &json!(5_400)));
    assert_eq!(sample.stock(&node, "SHOE-43").await, 2);

    assert_eq!(boutique.is_tried_again(&rma).await.status, 202);
    assert_eq!(boutique.shop.receives_events().await, Vec::<String>::new(), "it was placed before");
    let attempts =
        node.database.texts("select status::text from attempt where message_id in (select message_id from exchange_order)").await;
    assert_eq!(attempts, ["200", "200"]);
    assert_eq!((boutique.exchange_of(&rma).await, sample.stock(&node, "SHOE-43").await), (placed, 2));

    let forged = node.client.post(format!("{}/exchange_orders", sample.base)).json(&json!({ "original_order_id": "A-2", "items": [] }));
    assert_eq!(forged.send().await.unwrap().status(), 401);
}
