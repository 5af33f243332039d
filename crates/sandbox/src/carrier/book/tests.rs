//! Compares the book with a model.

use proptest::prelude::*;

use super::*;

const REFERENCES: [&str; 2] = ["RMA-1", "RMA-2"];

/// A caller's operations on one of two references.
#[derive(Clone, Copy, Debug)]
enum Call {
    Create(usize),
    Buy(usize),
    Refund(usize),
}

/// The state of a reference's oldest shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Made,
    Bought,
    Refunded,
}

fn call() -> impl Strategy<Value = Call> {
    let reference = 0..REFERENCES.len();
    prop_oneof![reference.clone().prop_map(Call::Create), reference.clone().prop_map(Call::Buy), reference.prop_map(Call::Refund)]
}

fn draft(reference: &str) -> Draft {
    let address = json!({"name": "Ada SIM-DELIVERED"});
    let (to_address, from_address) = (address.clone(), address);
    Draft { reference: Some(reference.to_owned()), is_return: false, to_address, from_address, parcel: json!({}), ounces: 1.0 }
}

fn buy(book: &mut Book, reference: &str) -> Result<Vec<Report>, Refused> {
    let rate = book.find(reference).map(|shipment| shipment.rates[0]["id"].as_str().unwrap().to_owned());
    book.buy(reference, &rate.unwrap_or_default(), "").map(|(_, reports)| reports)
}

proptest! {
    #[test]
    fn a_label_is_bought_once_and_refunded_once(calls in proptest::collection::vec(call(), 0..40)) {
        let mut book = Book::new(b"", 1_000);
        let mut model = [State::Absent; REFERENCES.len()];
        for call in calls {
            let (Call::Create(which) | Call::Buy(which) | Call::Refund(which)) = call;
            let (reference, state) = (REFERENCES[which], model[which]);
            let (expected, next) = match (call, state) {
                (Call::Create(_), State::Absent) => (None, State::Made),
                (Call::Create(_), State::Made | State::Bought | State::Refunded) => (None, state),
                (Call::Buy(_) | Call::Refund(_), State::Absent) => (Some(Refused::NoShipment), state),
                (Call::Buy(_), State::Made) => (None, State::Bought),
                (Call::Buy(_), State::Bought) => (Some(Refused::Bought), state),
                (Call::Buy(_), State::Refunded) => (Some(Refused::Void), state),
                (Call::Refund(_), State::Made) => (Some(Refused::NotBought), state),
                (Call::Refund(_), State::Bought) => (None, State::Refunded),
                (Call::Refund(_), State::Refunded) => (Some(Refused::Refunded), state),
            };
            let refused = match call {
                Call::Create(_) => {
                    book.create(draft(reference));
                    None
                }
                Call::Buy(_) => buy(&mut book, reference).err(),
                Call::Refund(_) => book.refund(reference).err(),
            };
            prop_assert_eq!(refused, expected);
            model[which] = next;
        }
        let bought = book.shipments().filter(|shipment| shipment.purchase.is_some()).count();
        prop_assert_eq!(bought, model.iter().filter(|state| matches!(state, State::Bought | State::Refunded)).count());
        prop_assert_eq!(book.trackers.len(), bought);
    }
}

#[test]
fn the_oldest_is_forgotten_and_the_next_of_its_reference_answers() {
    let mut book = Book::new(b"", 2);
    let made: Vec<Value> = ["RMA-1", "RMA-2", "RMA-1"].map(|reference| book.create(draft(reference))).to_vec();
    assert_eq!(book.find("RMA-1").map(|shipment| &*shipment.id), made[2]["id"].as_str());
    assert!(book.find(made[0]["id"].as_str().unwrap()).is_none());
    book.create(draft("RMA-3"));
    assert!(book.find("RMA-2").is_none());
    for code in ["1", "2", "3"] {
        book.track(code);
    }
    let sizes = (book.shipments.len(), book.ids.len(), book.references.len(), book.trackers.len(), book.tracked.len());
    assert_eq!(sizes, (2, 2, 2, 2, 2));
    assert!(book.tracker("1").is_none() && book.scan("3", Status::Delivered).is_some());
}

#[test]
fn the_newest_report_is_always_the_latest() {
    let mut book = Book::new(b"", 10);
    book.create(draft("RMA-1"));
    let reports = buy(&mut book, "RMA-1").unwrap_or_default();
    let sent: Vec<_> = reports.iter().map(|report| (report.event["created_at"].as_str(), &report.event["result"]["status"])).collect();
    let [(first, in_transit), (second, delivered)] = sent[..] else { panic!("{sent:?}") };
    assert!(first < second);
    assert_eq!((in_transit, delivered), (&json!("in_transit"), &json!("delivered")));
}

#[test]
fn two_carriers_give_no_id_twice() {
    let (mut one, mut other) = (Book::new(b"one", 10), Book::new(b"other", 10));
    let ids: std::collections::HashSet<String> = (0..100).flat_map(|_| [one.id("shp"), other.id("shp")]).collect();
    assert_eq!(ids.len(), 200);
}
