//! The digest of an order's content, beside the database's comparison of contents.

use domain::orders::snapshot::CONTENT;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use sqlx::PgConnection;

use crate::world::{World, message, order};

/// Contents, each in several spellings.
const CONTENTS: [&[&str]; 14] = [
    &["0", "-0", "0.0e5"],
    &["1", "1.0", "10e-1", "1E0"],
    &["-1", "-1.00"],
    &["10", "1e1", "10.0"],
    &["2.5", "2.50", "25e-1"],
    &["123456789012345678901234567890", "123456789012345678901234567890.0"],
    &["123456789012345678901234567891"],
    &[r#""a""#, r#""\u0061""#],
    &[r#""/""#, r#""\/""#],
    &[r#""Köln 😀""#, r#""K\u00f6ln \uD83D\ude00""#],
    &[r#""""#],
    &["true"],
    &["false"],
    &["null"],
];

const NAMES: [[&str; 2]; 4] = [["a", r"\u0061"], ["b", r"\u0062"], ["ab", r"a\u0062"], ["ä", r"\u00E4"]];

/// A JSON text. Its content depends on `content` alone.
fn write(content: &mut StdRng, spelling: &mut StdRng, depth: usize) -> String {
    let space = [" ", "", "\n"][spelling.random_range(0..3)];
    match content.random_range(0..if depth == 0 { 2 } else { 4 }) {
        0 | 1 => {
            let spellings = CONTENTS[content.random_range(0..CONTENTS.len())];
            format!("{}{space}", spellings[spelling.random_range(0..spellings.len())])
        }
        2 => {
            let elements: Vec<String> = (0..content.random_range(0..3)).map(|_| write(content, spelling, depth - 1)).collect();
            format!("[{space}{}]", elements.join(","))
        }
        _ => {
            let mut members: Vec<String> = Vec::new();
            for names in NAMES {
                if content.random_bool(0.5) {
                    let value = write(content, spelling, depth - 1);
                    members.push(format!("\"{}\"{space}: {value}", names[spelling.random_range(0..2)]));
                }
            }
            members.shuffle(spelling);
            format!("{{{space}{}}}", members.join(","))
        }
    }
}

#[tokio::test]
async fn digests_are_equal_exactly_if_the_contents_are() {
    let world = World::new().await;
    let mut connection = world.database.connect().await;
    let mut rng = StdRng::seed_from_u64(11);
    let mut pair = |_| {
        let contents: [u64; 2] = [rng.random(), rng.random()];
        let [one, other] = if rng.random_bool(0.5) { [contents[0]; 2] } else { contents };
        let mut text = |content| write(&mut StdRng::seed_from_u64(content), &mut StdRng::seed_from_u64(rng.random()), 3);
        (text(one), text(other))
    };
    let (ones, others): (Vec<String>, Vec<String>) = (0..3_000).map(&mut pair).unzip();
    let same: Vec<bool> = sqlx::query_scalar(
        "select same_content(one, other) from unnest($1::text[], $2::text[]) with ordinality as pair (one, other, at) order by at",
    )
    .bind(&ones)
    .bind(&others)
    .fetch_all(&mut connection)
    .await
    .unwrap();
    for ((one, other), same) in ones.iter().zip(&others).zip(&same) {
        assert_eq!(wire::orders::order::digest(one) == wire::orders::order::digest(other), *same, "{one}\n{other}");
    }
    let respelled = ones.iter().zip(&others).zip(&same).filter(|((one, other), same)| **same && one != other).count();
    let different = same.iter().filter(|same| !**same).count();
    assert!(respelled > 500 && different > 500, "{respelled} in two spellings, {different} different ones");
}

async fn digest(connection: &mut PgConnection) -> Vec<u8> {
    sqlx::query_scalar("select digest from customer_order").fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn an_order_with_the_digest_of_its_bytes_is_compared_by_its_content() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    let sent: Value = message([order("1")]);
    merchant.publishes(&sent).await;
    // As it was stored before digests were made from contents.
    let of_bytes = sqlx::query_scalar("select sha256(convert_to(snapshot, 'UTF8')) from customer_order");
    let before: Vec<u8> = of_bytes.fetch_one(&mut connection).await.unwrap();
    sqlx::query("update customer_order set digest = $1").bind(&before).execute(&mut connection).await.unwrap();
    assert!(!before.starts_with(&CONTENT));
    assert_eq!(merchant.publishes(&sent).await.results(), ["unchanged"], "the same bytes");
    let pretty = serde_json::to_string_pretty(&sent).unwrap();
    assert_eq!(merchant.publishes_text(pretty).await.results(), ["unchanged"], "another spelling");
    assert_eq!(digest(&mut connection).await, before, "nothing was written");
    let mut changed = order("1");
    changed["raw_status"] = "packed".into();
    let changed = message([changed]);
    assert_eq!(merchant.publishes(&changed).await.results(), ["updated"], "another content with the same time");
    assert!(digest(&mut connection).await.starts_with(&CONTENT), "it is renewed with the order");
    assert_eq!(merchant.publishes_text(serde_json::to_string_pretty(&changed).unwrap()).await.results(), ["unchanged"]);
    assert_eq!(merchant.publishes(&sent).await.results(), ["updated"], "of two with the same time, the later arrival wins");
}

#[tokio::test]
async fn contents_with_digests_are_told_apart_without_reading_the_stored_text() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    merchant.publishes(&message([order("1")])).await;
    let mut other = order("1");
    other["raw_status"] = "packed".into();
    // If the texts were compared, they would be the same.
    sqlx::query("update customer_order set snapshot = $1").bind(other.to_string()).execute(&mut connection).await.unwrap();
    assert_eq!(merchant.publishes(&message([other])).await.results(), ["updated"]);
    // A number below what the database can hold has a digest like any other.
    let tiny = message([order("2")]).to_string().replace(r#""raw_status":"#, r#""note":1e-99999,"raw_status":"#);
    assert_eq!(merchant.publishes_text(tiny.clone()).await.results(), ["created"]);
    assert_eq!(merchant.publishes_text(tiny.replace("1e-99999", "0.1e-99998")).await.results(), ["unchanged"]);
}
