//! The QR code that a shopper shows instead of a printed label.

use std::io::Cursor;
use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use sandbox::carrier::{Failure, Operation};
use serde_json::json;
use store::returns::{labels, rmas, work_items};

use crate::world::World;
use crate::world::carrier::Carried;

/// The waits of the default schedule, in seconds, before jitter.
const WAITS: [u64; 5] = [5, 40, 320, 2_560, 20_480];
/// The attempts to fetch codes.
const TRIED: &str = "attempt join message using (merchant_id, message_id) where kind = 'label_code'";

/// The text of the QR code in a picture.
fn scanned(picture: &[u8]) -> String {
    let mut reader = png::Decoder::new(Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let (width, height) = (frame.width as usize, frame.height as usize);
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| pixels[y * width + x]);
    image.detect_grids()[0].decode().unwrap().1
}

impl Carried<'_> {
    /// Starts a return by `express-returns`.
    async fn has_an_express_return(&self, order: &str) -> String {
        self.has_an_express_return_from(order, "1 Main St").await
    }

    /// The statuses of the answers to requests for the label and for its code.
    async fn answers(&self, rma: &str) -> (u16, u16) {
        let merchant = &self.shop.merchant;
        (merchant.asks_for_the_label(rma).await.status.as_u16(), merchant.asks_for_the_code(rma).await.status.as_u16())
    }

    /// Lets this wait pass, with the most jitter, and makes the next attempts.
    async fn tries_again_after(&self, seconds: u64) {
        self.shop.merchant.world.time_passes(Duration::from_millis(seconds * 1_100 + 100));
        self.shop.merchant.world.deliver_all_due().await;
    }
}

#[tokio::test]
async fn the_label_of_an_express_return_has_a_code_that_a_scanner_reads() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let rma = carried.has_an_express_return("A-1").await;
    assert_eq!(carried.answers(&rma).await, (404, 404), "not yet");
    assert_eq!(merchant.looks_at(&rma).await["label"], json!({ "state": "ordered", "reason": null, "code": false }));
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);

    let code = merchant.asks_for_the_code(&rma).await;
    assert_eq!((code.status.as_u16(), code.header("content-type")), (200, "image/png"));
    let shipment = carried.shipment(&rma);
    assert_eq!((Some(scanned(&code.bytes)), shipment.forms), (shipment.tracking_code, 1));
    assert_eq!(labels::code(world.app.store(merchant.id), merchant.id, &rma).await.unwrap(), Some(code.bytes));
    assert_eq!(merchant.looks_at(&rma).await["label"], json!({ "state": "bought", "reason": null, "code": true }));
    assert!(merchant.asks_for_the_label(&rma).await.text.starts_with("%PDF-"), "it can be printed as well");
    assert_eq!((world.owed().await, carried.bought_and_given_back(&rma)), (0, (1, 0)));
}

#[tokio::test]
async fn a_label_for_the_mail_is_printed_and_has_no_code() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    assert_eq!((carried.answers(&rma).await, carried.shipment(&rma).forms), ((200, 404), 0));
    assert_eq!((world.database.count(TRIED).await, world.owed().await), (0, 0), "nobody asks for one");
}

#[tokio::test]
async fn a_carrier_without_codes_sells_the_label_all_the_same() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let rma = carried.has_an_express_return_from("A-1", "1 SIM-NO-CODE St").await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    for wait in WAITS {
        carried.tries_again_after(wait).await;
    }
    assert_eq!(carried.answers(&rma).await, (200, 404));
    assert_eq!(merchant.looks_at(&rma).await["label"], json!({ "state": "bought", "reason": null, "code": false }));
    assert_eq!(world.database.count(TRIED).await, 3, "the third refusal is believed");
    let cases = work_items::list(world.app.store(merchant.id), merchant.id, None, 10).await.unwrap();
    assert_eq!((world.owed().await, world.failures().await, cases.len()), (0, 0, 0), "nobody has to do anything");
}

#[tokio::test]
async fn a_code_that_is_late_does_not_hold_its_label_back_and_is_asked_for_once() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "1500")]).await;
    let carried = world.shop_with_a_carrier("acme").await;
    for operation in [Operation::Form, Operation::QrCode] {
        for failure in Failure::ALL {
            let case = format!("{operation:?} {failure:?}");
            carried.carrier.fails_next(operation, [failure]);
            let rma = carried.has_an_express_return(&case).await;
            assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"], "{case}");
            assert_eq!(carried.answers(&rma).await, (200, 404), "{case}");
            carried.tries_again_after(5).await;
            assert_eq!(carried.answers(&rma).await, (200, 200), "{case}");
            assert_eq!((carried.shipment(&rma).forms, carried.bought_and_given_back(&rma)), (1, (1, 0)), "{case}");
        }
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn a_code_that_never_comes_is_given_up_after_six_attempts() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.fails_next(Operation::Form, [Failure::ErrorBefore; 6]);
    let rma = carried.has_an_express_return("A-1").await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    for wait in WAITS.into_iter().chain([20_480]) {
        carried.tries_again_after(wait).await;
    }
    assert_eq!((world.database.count(TRIED).await, carried.answers(&rma).await), (6, (200, 404)));
    assert_eq!((world.owed().await, world.failures().await), (0, 0), "nobody has to do anything");
}

#[tokio::test]
async fn a_process_that_ends_while_it_asks_for_the_code_buys_nothing_twice_and_loses_no_code() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    // There is a code, but the carrier's response does not arrive.
    carried.carrier.fails_next(Operation::Form, [Failure::TooSlow]);
    let deliverer = backhaul::worker::start(&world.app);
    let rma = carried.has_an_express_return("A-1").await;
    let asked = async {
        while carried.carrier.shipments().iter().all(|shipment| shipment.forms == 0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap();
    drop(deliverer);
    assert_eq!(carried.answers(&rma).await, (200, 404));

    let second = world.second_node().await;
    let deliverer = backhaul::worker::start(&second.app);
    world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    assert_eq!((carried.answers(&rma).await, carried.shipment(&rma).forms), ((200, 200), 1));
    assert_eq!(carried.bought_and_given_back(&rma), (1, 0));
    let tried =
        "select outcome from attempt join message using (merchant_id, message_id) where kind = 'label_code' order by started_at, outcome";
    assert_eq!(world.database.texts(tried).await, ["200", "unknown"], "the first call was recorded");
    deliverer.leave().await;
}

#[tokio::test]
async fn a_cancelled_return_asks_for_its_code_no_more() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.fails_next(Operation::Form, [Failure::ErrorBefore]);
    let rma = carried.has_an_express_return("A-1").await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    assert_eq!(carried.shop.merchant.cancels(&rma).await.status, 200);
    world.time_passes(Duration::from_mins(3));
    assert_eq!((carried.receives_events().await, carried.bought_and_given_back(&rma)), (vec!["canceled".to_owned()], (1, 1)));
    assert_eq!((world.database.count(TRIED).await, carried.shipment(&rma).forms, world.owed().await), (1, 0, 0));
}

#[tokio::test]
async fn a_code_is_erased_with_its_label_and_does_not_come_back() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let (rma, _) = carried.has_a_code("A-1").await;
    let kept = rmas::find(world.app.store(merchant.id), merchant.id, &rma).await.unwrap().unwrap();
    let shipment = carried.shipment(&rma).id;
    let save = async |shipment: &str| {
        let mut tx = world.app.begin(merchant.id).await.unwrap();
        labels::save_code(&mut tx, kept.id, shipment, b"another picture").await.unwrap();
        world.app.commit(tx).await.unwrap();
    };
    save("shp_of_another_label").await;
    assert!(merchant.asks_for_the_code(&rma).await.bytes.starts_with(b"\x89PNG"), "a code belongs to its label");

    erase_shopper(&world.app, "test", merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    save(&shipment).await;
    assert_eq!(carried.answers(&rma).await, (404, 404));
    assert_eq!(merchant.looks_at(&rma).await["label"]["code"], false);
    assert_eq!(world.database.texts("select octet_length(qr_code)::text from label").await, ["0"]);
    assert_eq!(world.database.count("attempt where answer is not null").await, 0, "the carrier's answers are erased, too");
}
