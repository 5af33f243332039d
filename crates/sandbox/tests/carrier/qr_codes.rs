//! QR codes, asked for as forms and scanned like at a counter.

use std::io::Cursor;

use serde_json::{Value, json};

use crate::caller::{World, error, read, shipment};

impl World {
    /// Buys a label for a parcel from this person. Returns its shipment.
    async fn labelled(&self, shopper: &str) -> Value {
        let (_, made) = read(self.post("v2/shipments", &shipment("RMA-1", shopper))).await;
        self.buy(&made).await.1
    }
}

fn form(kind: &str) -> Value {
    json!({"form": {"type": kind}})
}

fn path(shipment: &Value) -> String {
    format!("v2/shipments/{}/forms", shipment["id"].as_str().unwrap())
}

/// The text of the QR code in a picture.
fn scanned(picture: &[u8]) -> String {
    let mut reader = png::Decoder::new(Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Grayscale, png::BitDepth::Eight));
    let (width, height) = (frame.width as usize, frame.height as usize);
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| pixels[y * width + x]);
    let codes = image.detect_grids();
    assert_eq!(codes.len(), 1, "one code is in the picture");
    codes[0].decode().unwrap().1
}

#[tokio::test]
async fn a_scanner_reads_the_tracking_number_from_either_form() {
    let world = World::new().await;
    for (kind, shopper) in [("label_qr_code", "Ada Lovelace"), ("rma_qr_code", "SIM-DELIVERED")] {
        let bought = world.labelled(shopper).await;
        assert_eq!(bought["forms"], json!([]));
        let (status, answer) = read(world.post(&path(&bought), &form(kind))).await;
        assert_eq!((status, &answer["forms"][0]["form_type"]), (201, &json!(kind)));
        let found = read(world.get(&format!("v2/shipments/{}", bought["id"].as_str().unwrap()))).await.1;
        assert_eq!(found["forms"], answer["forms"]);
        // Codes need no key: anyone who knows the URL may read them.
        let picture = world.client.get(answer["forms"][0]["form_url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!((picture.status().as_u16(), &picture.headers()["content-type"]), (200, &"image/png".parse().unwrap()));
        assert_eq!(scanned(&picture.bytes().await.unwrap()), bought["tracking_code"].as_str().unwrap());
        assert_eq!(world.carrier.shipments().last().unwrap().forms, 1);
    }
}

#[tokio::test]
async fn there_is_a_code_only_for_a_label_with_which_it_is_sold() {
    let world = World::new().await;
    let unavailable = (422, "SHIPMENT.FORM.UNAVAILABLE".to_owned());
    let refused = |shipment: &Value, kind: &str| error(world.post(&path(shipment), &form(kind)));
    let made = world.ship("RMA-2").await;
    assert_eq!(refused(&made, "label_qr_code").await, unavailable, "the label is not bought");
    let bought = world.labelled("Ada Lovelace").await;
    assert_eq!(refused(&bought, "commercial_invoice").await, unavailable);
    assert_eq!(refused(&world.labelled("Ada SIM-NO-CODE").await, "label_qr_code").await, unavailable);
    assert_eq!(error(world.post("v2/shipments/RMA-3/forms", &form("label_qr_code"))).await.0, 404);
    for name in [made["id"].as_str().unwrap(), bought["id"].as_str().unwrap(), "RMA-1", "nothing"] {
        assert_eq!(world.client.get(world.url(&format!("qr_codes/{name}.png"))).send().await.unwrap().status(), 404, "{name}");
    }
    read(world.post("v2/shipments/RMA-1/refund", &json!({}))).await;
    assert_eq!(refused(&bought, "label_qr_code").await, unavailable, "the label is refunded");
    assert!(world.carrier.shipments().iter().all(|shipment| shipment.forms == 0));
}
