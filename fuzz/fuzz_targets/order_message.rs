//! Reads arbitrary bytes as an order message. The parsers never panic, and the fast and slow paths always agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::json;
use wire::orders::order::{read, read_fast, read_slow, Refusal};

fuzz_target!(|body: &[u8]| {
    let Ok(text) = json::text(body) else {
        assert!(matches!(read(body), Err(Refusal::Malformed(_))), "a body that is not text was accepted");
        return;
    };
    let accepted = read_fast(text).is_some();
    match read_slow(text) {
        // Every refusal must name a fault, or the sender could not fix the message.
        Refusal::Faulty(faults) => assert_eq!(accepted, faults.faults.is_empty(), "{:?}", faults.faults),
        Refusal::Malformed(malformed) => assert!(!accepted, "{malformed:?}"),
    }
    let Ok(received) = read(body) else { return };
    assert!(accepted, "a message of the wrong shape was accepted");
    for order in &received.orders {
        // The text is stored, so it must be the whole order and nothing else.
        let again = format!(r#"{{"returns_portal_order":{{"orders":[{}]}}}}"#, order.text);
        let Ok(again) = read(again.as_bytes()) else { panic!("the order's text alone is refused") };
        let [copy] = again.orders.as_slice() else { panic!("the order's text is not one order") };
        assert_eq!((copy.text, copy.version()), (order.text, order.version()));
        assert_eq!(copy.warnings.len(), order.warnings.len());
    }
});
