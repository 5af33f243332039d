//! Labels, parsed like a PDF reader does and scanned like a scanner does.

use serde_json::{Value, json};

use crate::caller::{World, read, shipment};

/// Pixels per point.
const SCALE: usize = 3;

async fn label_of(world: &World, shipment: &Value) -> (String, String) {
    let (_, bought) = world.buy(shipment).await;
    let url = bought["postage_label"]["label_url"].as_str().unwrap();
    // Labels need no key: anyone who knows the URL may read them.
    let answer = world.client.get(url).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()["content-type"]), (200, &"application/pdf".parse().unwrap()));
    let pdf = answer.bytes().await.unwrap();
    (bought["tracking_code"].as_str().unwrap().to_owned(), String::from_utf8(pdf.to_vec()).unwrap())
}

/// The object with this number, found through the cross-reference table.
fn object(pdf: &str, number: usize) -> &str {
    let start: usize = pdf.rsplit_once("startxref\n").unwrap().1.lines().next().unwrap().parse().unwrap();
    let table = pdf[start..].strip_prefix("xref\n0 7\n").expect("a table of seven");
    // Every entry has 20 bytes.
    let entry = &table[number * 20..(number + 1) * 20];
    assert!(entry.ends_with(" 00000 n \n"), "{entry:?}");
    let object = pdf[entry[..10].parse::<usize>().unwrap()..].strip_prefix(&format!("{number} 0 obj\n")).expect("the object");
    object.split_once("\nendobj\n").unwrap().0
}

/// The drawing commands of the page.
fn content(pdf: &str) -> &str {
    let (head, rest) = object(pdf, 6).split_once("stream\n").unwrap();
    let length: usize = head.trim().strip_prefix("<< /Length ").unwrap().strip_suffix(" >>").unwrap().parse().unwrap();
    assert_eq!(&rest[length..], "endstream");
    &rest[..length]
}

/// The text of the QR code that the page's rectangles form.
fn scanned(content: &str) -> String {
    let rectangles: Vec<[usize; 4]> = content
        .lines()
        .filter_map(|line| line.strip_suffix(" re f"))
        .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap())
        .collect();
    let (width, height) = (288, 432);
    let mut page = vec![255; width * height];
    for [left, bottom, wide, high] in rectangles {
        for y in bottom..bottom + high {
            page[y * width + left..][..wide].fill(0);
        }
    }
    let pixel = |x: usize, y: usize| page[(height - 1 - y / SCALE) * width + x / SCALE];
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width * SCALE, height * SCALE, pixel);
    let codes = image.detect_grids();
    assert_eq!(codes.len(), 1, "one code is on the page");
    codes[0].decode().unwrap().1
}

#[tokio::test]
async fn a_label_is_a_pdf_of_four_by_six_inches() {
    let world = World::new().await;
    let (_, pdf) = label_of(&world, &world.ship("RMA-1").await).await;
    assert!(pdf.starts_with("%PDF-1.4\n") && pdf.ends_with("%%EOF\n"));
    assert!(pdf.contains("trailer\n<< /Size 7 /Root 1 0 R >>"));
    assert!(object(&pdf, 1).contains("/Type /Catalog /Pages 2 0 R"));
    assert!(object(&pdf, 2).contains("/Kids [3 0 R] /Count 1"));
    assert!(object(&pdf, 3).contains("/MediaBox [0 0 288 432]"));
    assert!(object(&pdf, 4).contains("/BaseFont /Helvetica "));
    assert!(object(&pdf, 5).contains("/BaseFont /Helvetica-Bold "));
}

#[tokio::test]
async fn a_label_says_from_whom_to_whom_and_for_what_it_is() {
    let world = World::new().await;
    let (code, pdf) = label_of(&world, &world.ship("RMA-1").await).await;
    let content = content(&pdf);
    let place = |text: &str| content.find(&format!("({text})")).unwrap_or_else(|| panic!("{text} is not in {content}"));
    assert!(place("FROM") < place("Ada Lovelace") && place("Ada Lovelace") < place("TO"));
    assert!(place("TO") < place("Shop") && place("Shop") < place("Reno NV 89502"));
    place("12 \\(b\\) Rue de l'\\311t\\351");
    place("Ref. RMA-1");
    place(&code);
}

#[tokio::test]
async fn a_scanner_reads_the_tracking_number() {
    let world = World::new().await;
    for shopper in ["Ada Lovelace", "SIM-DELIVERED"] {
        let (_, made) = read(world.post("v2/shipments", &shipment("RMA-1", shopper))).await;
        let (code, pdf) = label_of(&world, &made).await;
        assert_eq!(scanned(content(&pdf)), code);
    }
}

#[tokio::test]
async fn a_return_goes_the_other_way_round() {
    let world = World::new().await;
    let mut body = shipment("RMA-1", "Ada Lovelace");
    body["shipment"]["is_return"] = json!(true);
    let (_, made) = read(world.post("v2/shipments", &body)).await;
    assert_eq!((&made["is_return"], &made["from_address"]["name"]), (&json!(true), &json!("Ada Lovelace")));
    let (_, pdf) = label_of(&world, &made).await;
    let content = content(&pdf);
    let place = |text: &str| content.find(text).unwrap();
    assert!(place("(Shop)") < place("(TO)") && place("(TO)") < place("(Ada Lovelace)"));
}

#[tokio::test]
async fn there_is_no_label_before_it_is_bought() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    for name in [made["id"].as_str().unwrap(), "RMA-1", "nothing"] {
        assert_eq!(world.client.get(world.url(&format!("labels/{name}.pdf"))).send().await.unwrap().status(), 404);
    }
}
