//! The sample order: 2.3 KB, with a number and a state that are overwritten in place.

/// The number of merchants. An order's number determines its merchant.
pub(crate) const MERCHANTS: u64 = 100;

/// The fixed width of numbers, so that they can be overwritten in place.
const WIDTH: usize = 12;
const NUMBER: &str = "@@@@@@@@@@@@";
const STATE: &str = "############";
/// The time of the last update; its seconds are overwritten in place.
const UPDATED: &str = "2026-01-06T10:00:00.000000Z";
const MICROS: usize = 6;

/// An order as JSON, with placeholders for its number and state.
fn template() -> String {
    let line = |at: usize| {
        format!(
            r#"{{"identifier":"L{at}","sku":"SHOE-42-{at}","upc":"012345678905","quantity":1,"quantity_shipped":1,"quantity_canceled":0,"tracking_number":"1Z0000000000000000","shipped_date":"2026-01-06T09:00:00Z","product_identifier":"P-42","variant_identifier":"V-SHOE","title":"Running shoe, blue, size 42, wide","tags":["online"],"product_amount_cents":5000,"tax_amount_cents":400,"discount_amount_cents":0,"unit_price_amount_cents":5000,"image_url":"https://example.com/images/shoe-42-blue-wide.png","weight":1.5}}"#
        )
    };
    let address = r#"{"name":"Pat Doe","street1":"1 Main Street","city":"Springfield","state":"NY","zip_code":"10001","country_code":"US","phone":"555-0100"}"#;
    format!(
        r#"{{"identifier":"{NUMBER}","raw_status":"{STATE}","status":"Shipped","total_amount_cents":16200,"product_amount_cents":15000,"tax_amount_cents":1200,"discount_amount_cents":0,"shipping_amount_cents":0,"shipping_tax_amount_cents":0,"currency":"USD","tags":["online"],"created_at":"2026-01-05T10:00:00Z","updated_at":"{UPDATED}","items":[{},{},{}],"customer":{{"identifier":"C-{NUMBER}","first_name":"Pat","last_name":"Doe","email":"pat.{NUMBER}@example.com","phone":"555-0100"}},"shipping_address":{address},"billing_address":{address},"transactions":[],"refunds":[],"discounts":[]}}"#,
        line(1),
        line(2),
        line(3)
    )
}

/// The text of the order `number` in `state`.
pub(crate) fn text(number: u64, state: u64) -> String {
    template().replace(NUMBER, &format!("{number:0WIDTH$}")).replace(STATE, &format!("{state:0WIDTH$}"))
}

/// A request with one or more orders, built once and changed in place.
pub(crate) struct Request {
    bytes: Vec<u8>,
    token: usize,
    numbers: Vec<Vec<usize>>,
    states: Vec<usize>,
    /// The places of the seconds of `updated_at`.
    updates: Vec<usize>,
}

impl Request {
    /// Builds a request with `orders` orders and a token of `token_length` characters.
    pub(crate) fn new(orders: usize, token_length: usize) -> Self {
        let body = format!(r#"{{"returns_portal_order":{{"orders":[{}]}}}}"#, vec![template(); orders].join(","));
        let head = format!(
            "POST /returns_portal_orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nContent-Length: {}\r\n\r\n",
            "T".repeat(token_length),
            body.len()
        );
        let token = head.find("TTTT").unwrap_or_default();
        let text = format!("{head}{body}");
        let places = |mark: &str| text.match_indices(mark).map(|(at, _)| at).collect::<Vec<_>>();
        let numbers = places(NUMBER).chunks(3).map(<[usize]>::to_vec).collect();
        let updates = places(UPDATED).into_iter().map(|at| at + UPDATED.len() - "00.000000Z".len()).collect();
        Self { token, numbers, states: places(STATE), updates, bytes: text.into_bytes() }
    }

    /// Sets the time of the last update of all orders, as microseconds within a minute.
    pub(crate) fn update(&mut self, micros: u64) {
        let digits = format!("{:02}.{:0MICROS$}", micros / 1_000_000 % 60, micros % 1_000_000);
        self.updates.iter().for_each(|place| put(&mut self.bytes, *place, digits.as_bytes()));
    }

    /// Sets the token, the order numbers and the state of all orders.
    pub(crate) fn fill(&mut self, token: &str, numbers: impl Iterator<Item = u64>, state: u64) -> &[u8] {
        put(&mut self.bytes, self.token, token.as_bytes());
        for (places, number) in self.numbers.iter().zip(numbers) {
            let digits = format!("{number:0WIDTH$}");
            places.iter().for_each(|place| put(&mut self.bytes, *place, digits.as_bytes()));
        }
        let digits = format!("{state:0WIDTH$}");
        self.states.iter().for_each(|place| put(&mut self.bytes, *place, digits.as_bytes()));
        &self.bytes
    }
}

fn put(bytes: &mut [u8], at: usize, text: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + text.len()) {
        place.copy_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_moves_the_time_of_every_order_and_nothing_else() {
        let mut request = Request::new(2, 4);
        let before = String::from_utf8(request.fill("TTTT", [1, 2].into_iter(), 3).to_vec()).expect("text");
        assert_eq!(before.matches(UPDATED).count(), 2);
        request.update(7_000_089);
        let after = String::from_utf8(request.fill("TTTT", [1, 2].into_iter(), 3).to_vec()).expect("text");
        assert_eq!(after, before.replace(UPDATED, "2026-01-06T10:00:07.000089Z"));
    }
}
