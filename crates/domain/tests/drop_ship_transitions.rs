//! The state machine of a drop-ship order as a table generated from the code, to compare with the decisions.

#![expect(clippy::expect_used, reason = "a test may end in a panic")]

use std::num::NonZeroU32;

use domain::warehouse::drop_ship::{Event, Order, Refused, Units};

type Change = fn(&mut Order) -> Result<Option<Event>, Refused>;

fn units(item: usize, quantity: u32) -> Units {
    Units { item, quantity: NonZeroU32::new(quantity).expect("at least one") }
}

#[test]
fn the_state_machine_is_that_of_the_decisions_and_no_other() {
    let ship_one: Change = |order| order.ship(&[units(0, 1)]).map(Some);
    let ship_all: Change = |order| order.ship(&[units(0, 2), units(1, 1)]).map(Some);
    let ship_rest: Change = |order| order.ship(&[units(0, 1), units(1, 1)]).map(Some);
    let cancel_one: Change = |order| order.cancel_units(&[units(0, 1)]).map(Some);
    let cancel_rest: Change = |order| order.cancel_units(&[units(0, 1), units(1, 1)]).map(Some);
    let cancel_all: Change = |order| order.cancel_units(&[units(0, 2), units(1, 1)]).map(Some);
    let cancel: Change = Order::cancel;
    let reject: Change = Order::reject;
    let histories: [(&str, &[Change]); 9] = [
        ("new", &[]),
        ("a unit cancelled", &[cancel_one]),
        ("a unit shipped", &[ship_one]),
        ("all shipped", &[ship_all]),
        ("a unit cancelled, the rest shipped", &[cancel_one, ship_rest]),
        ("a unit shipped, the rest cancelled", &[ship_one, cancel_rest]),
        ("all units cancelled", &[cancel_all]),
        ("cancelled", &[cancel]),
        ("rejected", &[reject]),
    ];
    let events: [(&str, Change); 8] = [
        ("ship one", ship_one),
        ("ship the rest", ship_rest),
        ("ship all", ship_all),
        ("cancel one", cancel_one),
        ("cancel the rest", cancel_rest),
        ("cancel all units", cancel_all),
        ("cancel", cancel),
        ("reject", reject),
    ];
    let stands = |order: &Order| {
        let items: Vec<String> = order.items.iter().map(|item| order.item_status(item).to_string()).collect();
        format!("{} [{}]", order.status(), items.join(", "))
    };
    let mut lines = vec!["Two units of the first item, one of the second.\n".to_owned()];
    lines.push(format!("| | {} |", events.map(|(name, _)| name).join(" | ")));
    lines.push(format!("|{}", " --- |".repeat(events.len() + 1)));
    for (name, history) in histories {
        let mut from = Order::new([2, 1]);
        for change in history {
            assert!(matches!(change(&mut from), Ok(Some(_))), "{name}");
        }
        let cell = |(_, change): &(&str, Change)| {
            let mut order = from.clone();
            match change(&mut order) {
                Ok(Some(event)) => format!("{} `{event}`", stands(&order)),
                Ok(None) => "=".to_owned(),
                Err(Refused::TooMany(_)) => "too many".to_owned(),
                Err(refused) => format!("refused: {refused}"),
            }
        };
        let cells: Vec<String> = events.iter().map(cell).collect();
        lines.push(format!("| {} ({name}) | {} |", stands(&from), cells.join(" | ")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}
