//! The state machines of a return as tables generated from the code, to compare with the contract.

#![expect(clippy::expect_used, reason = "a test may end in a panic")]

use domain::returns::rma::{CarrierEvent, Method, Parcel, Receiving, ReceivingEvent, RefundType, Refused, Rma, Step, Unit, Which};

/// The contract's table for a return by mail, verbatim.
const CONTRACT: &str = "
| State | Trigger | Condition | Next state |
| --- | --- | --- | --- |
| (none) | Shopper confirms the return in the portal | - | status CREATED |
| CREATED, no tracking | Carrier supplies tracking number and label | mail-back, within seconds of creation | package_tracking_status PRE_TRANSIT |
| PRE_TRANSIT | Carrier picks up the package (carrier scan) | mail-back | package_tracking_status TRANSIT |
| CREATED | Returns Portal Order received with a refunds entry for the RMA | - | status REFUNDED |
";

const UNCHANGED: &str = "=";

fn table(title: &str, events: &[&str], rows: &[(String, Vec<String>)]) -> String {
    let mut lines =
        vec![format!("## {title}\n"), format!("| | {} |", events.join(" | ")), format!("|{}", " --- |".repeat(events.len() + 1))];
    lines.extend(rows.iter().map(|(state, cells)| format!("| {state} | {} |", cells.join(" | "))));
    lines.join("\n")
}

fn refused(refused: &Refused) -> String {
    match refused {
        Refused::NotCancelable(held) => format!("refused: {held}"),
        Refused::NoParcel
        | Refused::AnotherLabel { .. }
        | Refused::PartOfALabel
        | Refused::NoSuchUnit(_)
        | Refused::NotReceiving
        | Refused::Cancelled => "refused".to_owned(),
    }
}

fn parcels() -> String {
    let number = || "1Z999".parse().expect("a tracking number");
    let states = [
        ("(kept)", Parcel::Kept),
        ("(no label)", Parcel::AwaitingLabel),
        ("PRE_TRANSIT", Parcel::PreTransit(number())),
        ("ACCEPTED", Parcel::Accepted(Some(number()))),
        ("ACCEPTED (no label)", Parcel::Accepted(None)),
        ("TRANSIT", Parcel::Transit(number())),
        ("DELIVERED", Parcel::Delivered(number())),
        ("RETURNED", Parcel::Returned(number())),
        ("FAILURE", Parcel::Failure(number())),
        ("NOT_DROPPED_OFF", Parcel::NotDroppedOff(Some(number()))),
        ("NOT_DROPPED_OFF (no label)", Parcel::NotDroppedOff(None)),
    ];
    let events = [
        ("label", CarrierEvent::LabelIssued(number())),
        ("another label", CarrierEvent::LabelIssued("1Z000".parse().expect("a tracking number"))),
        ("accepted", CarrierEvent::Accepted),
        ("left out", CarrierEvent::LeftOut),
        ("scanned", CarrierEvent::Scanned),
        ("delivered", CarrierEvent::Delivered),
        ("returned", CarrierEvent::Returned),
        ("failed", CarrierEvent::Failed),
    ];
    let cell = |state: &Parcel, event: &CarrierEvent| match state.on(event) {
        Ok(Step::Moved(next)) => next.as_str().expect("it is somewhere").to_owned(),
        Ok(Step::Unchanged) => UNCHANGED.to_owned(),
        Ok(Step::TooEarly) => "too early".to_owned(),
        Err(why) => refused(&why),
    };
    let row = |(name, state): &(&str, Parcel)| ((*name).to_owned(), events.iter().map(|(_, event)| cell(state, event)).collect());
    table("Parcel of a unit", &events.each_ref().map(|(name, _)| *name), &states.iter().map(row).collect::<Vec<_>>())
}

fn receivings() -> String {
    let events = [("arrived", ReceivingEvent::Arrived), ("receiving closed", ReceivingEvent::Closed)];
    let cell = |state: Receiving, event| match state.on(event) {
        Step::Moved(next) => next.to_string(),
        Step::Unchanged | Step::TooEarly => UNCHANGED.to_owned(),
    };
    let row = |state: &Receiving| (state.to_string(), events.iter().map(|(_, event)| cell(*state, *event)).collect());
    table("Receiving of a unit", &events.map(|(name, _)| name), &Receiving::ALL.iter().map(row).collect::<Vec<_>>())
}

type Change = fn(&mut Rma) -> Result<Step, Refused>;

/// The status of a return of two units to be refunded, by mail, with managed receiving.
fn statuses() -> String {
    let new = || {
        let unit = |number| Unit::new("line".to_owned(), number, RefundType::Refund, Method::MailBack, true);
        Rma::new(Method::MailBack, vec![unit(1), unit(2)])
    };
    let label: Change = |rma| rma.carry(&CarrierEvent::LabelIssued("1Z999".parse().expect("a tracking number")), Which::All);
    let scan: Change = |rma| rma.carry(&CarrierEvent::Scanned, Which::All);
    let one: Change = |rma| rma.refund(&[0]);
    let all: Change = |rma| rma.refund(&[0, 1]);
    let receive: Change = |rma| rma.receive(&[0, 1]);
    let close: Change = Rma::close_receiving;
    let cancel: Change = Rma::cancel;
    let histories: [(&str, &[Change]); 8] = [
        ("new", &[]),
        ("labelled", &[label]),
        ("scanned", &[label, scan]),
        ("receiving closed", &[label, close]),
        ("one unit refunded", &[label, one]),
        ("one unit refunded, receiving closed", &[label, one, close]),
        ("all refunded", &[label, all]),
        ("cancelled", &[label, cancel]),
    ];
    let events: [(&str, Change); 7] = [
        ("label", label),
        ("scanned", scan),
        ("one unit refunded", one),
        ("all refunded", all),
        ("received", receive),
        ("receiving closed", close),
        ("cancel", cancel),
    ];
    let row = |(name, history): &(&str, &[Change])| {
        let mut from = new();
        for change in *history {
            assert!(matches!(change(&mut from), Ok(Step::Moved(_))), "{name}");
        }
        let cell = |(_, change): &(&str, Change)| {
            let mut rma = from.clone();
            match change(&mut rma) {
                Ok(Step::Moved(event)) => format!("{} `{event}`", rma.status),
                Ok(Step::Unchanged) => UNCHANGED.to_owned(),
                Ok(Step::TooEarly) => "too early".to_owned(),
                Err(why) => refused(&why),
            }
        };
        (format!("{} ({name})", from.status), events.iter().map(cell).collect())
    };
    let title = "Status of a return of two units, with the message that goes out";
    table(title, &events.map(|(name, _)| name), &histories.iter().map(row).collect::<Vec<_>>())
}

#[test]
fn the_state_machines_are_those_of_the_contract_and_no_others() {
    let tables = [format!("## The contract, for a return by mail\n{CONTRACT}"), statuses(), parcels(), receivings()];
    insta::assert_snapshot!(tables.join("\n\n"));
}
