//! The plans of the statements about shipments, receiving, drop-ship and exchange orders, and erasing: they use their
//! indexes, however much data there is.
//!
//! `UNITS` sets the number of units in shipments, and of receipts, orders, returns, exchange orders and drop-ship orders:
//! 20,000, or 100,000 with `make plan-warehouse`. The last line of output is a JSON object for scripts. The pages come from
//! `auto_explain`, which needs a superuser.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    dead_code,
    reason = "a test unwraps freely, talks to the database directly, and prints results for scripts"
)]

mod database;
mod explained;
mod ledger;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Internal, Kind};
use domain::money::Cents;
use domain::returns::rma::ExchangeState;
use domain::warehouse::asn::Condition;
use domain::warehouse::drop_ship::Status;
use domain::warehouse::inbound::{Exception, State, Target};
use domain::warehouse::shipment;
use sqlx::ConnectOptions as _;
use store::Store;
use store::merchants::erasures;
use store::messages::attempts;
use store::returns::exchange_orders::Placed;
use store::returns::{exchange_orders, parcels, return_drafts, rmas, withdrawal_drafts, withdrawal_links, withdrawals};
use store::warehouse::drop_shipments::{DropShipment, DropShipmentItem};
use store::warehouse::inbound_asns::{New, StoredAsn};
use store::warehouse::receipts::{LineQuery, Receipt};
use store::warehouse::receiving_exceptions::NewException;
use store::warehouse::shipment_units::{Part, Unit};
use store::warehouse::shipments::{MOST_LISTED, Shipment};
use store::warehouse::{
    drop_ship_cancellations, drop_ship_orders, drop_shipments, inbound_asn_pages, inbound_asns, provenance, receipts, receiving_exceptions,
    shipment_units, shipments,
};
use uuid::Uuid;

use self::ledger::Ledger;

/// The number of pages read of each list.
const PAGES_TURNED: usize = 3;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Ten consecutive numbers, a ten, belong to one merchant. Every second ten belongs to the first merchant, the others to one
/// of 19 merchants.
fn merchant(ten: u32) -> MerchantId {
    MerchantId(Uuid::from_u128(if ten.is_multiple_of(2) { 1 } else { 2 + u128::from(ten / 2 % 19) }))
}

/// The table that everything else is filled from: numbers, their merchants, and ids and times that grow with them. They are
/// spread over all days that have partitions, because PostgreSQL reads an empty partition in full.
const NUMBERS: &str = "
    create temporary table one (number integer, ten integer, turn integer, merchant_id uuid, at timestamptz, id uuid, of_ten uuid)";
const FILL_NUMBERS: &str = "
    insert into one
    select number, ten, ten / 2 % 4, lpad(to_hex(case when ten % 2 = 0 then 1 else 2 + ten / 2 % 19 end), 32, '0')::uuid, at,
        (left(first_id(at)::text, 24) || lpad(to_hex(number * 4), 12, '0'))::uuid,
        (left(first_id(of_ten)::text, 24) || lpad(to_hex(ten), 12, '0'))::uuid
    from generate_series(0, $1 - 1) as number, lateral (select number / 10 as ten) as tens,
        lateral (select number::float8 / $1 as part, ten * 10::float8 / $1 as part_of_ten) as parts,
        (select date_trunc('day', $2, 'UTC') - interval '1 day' as first, interval '16 days' as days) as made,
        lateral (select first + days * part as at, first + days * part_of_ten as of_ten) as times";

/// For each number an order, with a return, its draft, its link, a withdrawal with a link, an unconfirmed one, a label, a case about it, the key of the request that started
/// it, a refund and an exchange order.
const FILL_ORDERS: &str = "
    insert into customer_order (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, snapshot,
        has_returns, email_fingerprint)
    select merchant_id, 'A-' || number, 'Shipped', at, at, at, 1, sha256(number::text::bytea), repeat('x', 500), true,
        substr(sha256(number::text::bytea), 1, 16)
    from one;
    insert into rma (merchant_id, rma_id, created_at, updated_at, sequence, shipping_cost_cents, gift, receiving_closed, reminded, method,
        status, identifier, order_identifier, giftee_email, expected)
    select merchant_id, id, at, at, 1, 0, true, turn = 1, false, 'mail-back', 'CREATED', 'R-' || number, 'A-' || number, 'x', true from one;
    insert into rma_item (merchant_id, rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents,
        shopper_cents, position, unit, exchange_owed, refund_type, order_line, sku, reason, receiving)
    select merchant_id, id, 5000, 0, 400, 5400, 0, 0, 5400, 0, 1, false, 'REFUND', 'L1', 'SHOE-42', 'NOT_GIVEN', 'PENDING' from one;
    insert into return_draft (merchant_id, draft_id, order_identifier, created_at, changed_at, revision, answers, rma_identifier)
    select merchant_id, id, 'A-' || number, at, at, 1, '{}', 'R-' || number from one;
    insert into return_link (merchant_id, link_hash, rma_id, sent_at) select merchant_id, sha256(id::text::bytea), id, at from one;
    insert into withdrawal (merchant_id, withdrawal_id, reference, received_at, session_hash, language, name, email, order_words, statement,
        order_identifier)
    select merchant_id, id, 'W-' || number, at, sha256(number::text::bytea), 'en', 'x', 'x', 'x', repeat('x', 200), 'A-' || number from one;
    insert into withdrawal_link (merchant_id, link_hash, withdrawal_id, sent_at) select merchant_id, sha256(id::text::bytea), id, at from one;
    insert into withdrawal_draft (merchant_id, session_hash, statement, changed_at, order_identifier)
    select merchant_id, sha256(id::text::bytea), repeat('x', 200), at, 'A-' || number from one;
    insert into parcel (merchant_id, rma_id, tracking_number) select merchant_id, id, 'T-' || number from one;
    insert into label (merchant_id, rma_id, bought_at, tracking_number, carrier, shipment, pdf)
    select merchant_id, id, at, 'T-' || number, 'UPS', 'shp_' || number, repeat('z', 200)::bytea from one;
    insert into work_item (merchant_id, item_id, opened_at, closed_at, kind, subject, reason)
    select merchant_id, id, at, case when turn = 1 then at end, 'label_refused', 'R-' || number, 'x' from one;
    insert into idempotency_key (merchant_id, used_at, request_hash, key, answer)
    select merchant_id, at, sha256(number::text::bytea), 'K-' || number, 'R-' || number || repeat('y', 500) from one;
    insert into refund (merchant_id, identifier, order_identifier, total_cents, refunded_at, received_at, note)
    select merchant_id, 'F-' || number, 'A-' || number, 10800, at, at, 'gladly' from one;
    -- One in a hundred was placed without a name.
    insert into exchange_order (
        merchant_id, rma_id, message_id, created_at, ended_at, listed_from, state, original_order_identifier, order_identifier
    )
    select merchant_id, id, id, at, case when turn > 0 then at end, case when turn = 1 and number % 100 = 1 then at end,
        (array['pending', 'placed', 'converted', 'placed'])[1 + turn],
        'A-' || number, case when turn in (1, 3) and number % 100 <> 1 then 'X-' || number end
    from one";

/// Three messages for each order: its exchange order, which was refused twice, its return, and the internal work for its
/// label. A tenth has failed, and a twentieth is owed. There are endpoints of 2,000 merchants.
const FILL_MESSAGES: &str = "
    insert into message (merchant_id, message_id, sequence, kind, event, subject, body, internal)
    select merchant_id, (left(id::text, 24) || lpad(to_hex(number * 4 + nth), 12, '0'))::uuid, 1, kind, kind, prefix || number,
        repeat('x', 300), internal
    from one, (values (0, 'exchange_order', 'A-', false), (1, 'rma', 'R-', false), (2, 'label', 'R-', true)) as of (nth, kind, prefix, internal);
    insert into attempt (merchant_id, attempt_id, message_id, endpoint_id, started_at, took_ms, number, status, outcome, answer)
    select merchant_id, (left(id::text, 24) || lpad(to_hex(one.number * 4 + attempt), 12, '0'))::uuid, id, merchant_id, at, 20, attempt, 409,
        '409', repeat('y', 50)::bytea
    from one, generate_series(1, 2) as attempt;
    insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
    select merchant_id, id, merchant_id, 1, at, 6, 'exchange_order', 'exchange_order', 'A-' || number, '503',
        (array['open', 'contacted', 'resolved', 'discarded'])[1 + turn], repeat('x', 300)
    from one where number % 10 = 3;
    insert into failure_note (merchant_id, message_id, note_id, made_at, actor, kind, text)
    select merchant_id, message_id, message_id, failed_at, 'operator:support@ops.example.com', 'note', 'asked' from failure;
    insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
    select merchant_id, id, merchant_id, 1, at, 0, 0, false, 'A-' || number from one where number % 20 = 5;
    insert into endpoint (merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url, key_id,
        authentication, secret)
    select id, id, '2026-01-01', '2026-01-01', 1, 10, 20, number % 256, 'exchange_order', 'https://hooks.example.com/', 'k', '', ''
    from generate_series(1, 2000) as number, lateral (select lpad(to_hex(number), 32, '0')::uuid as id) as ids";

/// For each ten a shipment of ten units in two cartons; a quarter is open, and a quarter cancelled.
const FILL_SHIPMENTS: &str = "
    insert into outbound_shipment (merchant_id, shipment_id, created_at, updated_at, ship_date, sequence, units, cartons, parts, state, kind,
        asn_number, request_hash, channel, shipment_identifier, tracking_numbers, from_identifier, to_identifier, to_type, to_name, to_street,
        to_city, to_state, to_zip)
    select merchant_id, of_ten, at, at, at, 0, 10, 2, case turn when 0 then 0 else 1 end,
        (array['open', 'announced', 'shipped', 'canceled'])[1 + turn], 'freight', 'S-' || ten, sha256(number::text::bytea), 'retail',
        'P-' || ten, array['T-' || ten], 'WH-1', 'WH-2', 'warehouse', 'Dock', '1 Main St', 'Reno', 'NV', '89501'
    from one where number % 10 = 0;
    insert into asn_number (merchant_id, shipment_id, number) select merchant_id, of_ten, 'S-' || ten from one where number % 10 = 0;
    insert into shipment_carton (merchant_id, shipment_id, carton, key, identifier)
    select merchant_id, of_ten, carton, sha256(carton::text::bytea), 'C-' || ten || '-' || carton
    from one, generate_series(1, 2) as carton where number % 10 = 0;
    insert into shipment_unit (merchant_id, shipment_id, carton, position, released, condition, line_identifier, unit_identifier,
        program_identifier, sku)
    select merchant_id, of_ten, 1 + number % 2, 1 + number % 10, turn = 3, 'N', 'L-' || number % 10, 'U-' || number, 'P', 'SHOE-42' from one;
    insert into shipment_part (merchant_id, shipment_id, part, first_carton, first_position, lines, asn_number)
    select merchant_id, of_ten, 1, 1, 1, 10, 'S-' || ten from one where number % 10 = 0 and turn > 0";

/// For each ten an ASN with ten lines: four by unit, two by the merchant's identifier for the unit and four by SKU, each for
/// a return. One unit of each line has been received, and each line has an exception.
const FILL_ASNS: &str = "
    insert into inbound_asn (merchant_id, asn_id, created_at, updated_at, announced, line_count, has_returns, state, digest, asn_number,
        shipment_identifier, from_identifier, from_type, to_identifier, to_type)
    select merchant_id, of_ten, at, at, 18, 10, true, case turn when 1 then 'closed' else 'open' end, sha256(number::text::bytea), 'I-' || ten,
        'P-' || ten / 8, 'S', 'store', 'WH-1', 'warehouse'
    from one where number % 10 = 0;
    insert into asn_line (merchant_id, asn_id, position, carton, quantity, received, line_identifier, reference_type, reference_identifier,
        unit_identifier, client_unit_identifier, sku)
    select merchant_id, of_ten, nth, 0, case when nth < 6 then 1 else 3 end, 1, 'L-' || nth, 'RMA', 'R-' || number,
        case when nth < 4 then 'U-' || number end, case when nth in (4, 5) then 'C-' || number end, 'SKU-' || nth
    from one, lateral (select number % 10 as nth) as line;
    insert into receipt (merchant_id, asn_id, received_at, unit_identifier, line_identifier, warehouse_id, condition)
    select merchant_id, of_ten, at, 'U-' || number, 'L-' || number % 10, 'WH-1', 'N' from one;
    insert into receiving_exception (merchant_id, exception_id, found_at, resolved_at, quantity, exception, asn_number, unit_identifier,
        line_identifier)
    select merchant_id, id, at, case when turn in (1, 3) then at end, 2, case number % 2 when 0 then 'short' else 'unexpected_unit' end,
        'I-' || ten, case number % 2 when 0 then '' else 'U-' || number end, case number % 2 when 0 then 'L-' || number % 10 else '' end
    from one";

/// A large ASN of the first merchant, with a line for each of its returns. All units are missing.
const FILL_LARGE_ASN: &str = "
    insert into inbound_asn (merchant_id, asn_id, created_at, updated_at, announced, line_count, has_returns, state, digest, asn_number,
        shipment_identifier, from_identifier, from_type, to_identifier, to_type)
    select merchant_id, 'ffffffff-ffff-7fff-bfff-ffffffffffff', at, at, 10000, 10000, true, 'open', sha256('large'), 'LARGE', 'LARGE', 'S',
        'store', 'WH-1', 'warehouse'
    from one where number = 0;
    insert into asn_line (merchant_id, asn_id, position, carton, quantity, line_identifier, reference_type, reference_identifier, sku)
    select merchant_id, 'ffffffff-ffff-7fff-bfff-ffffffffffff', number, 0, 1, 'L-' || number, 'RMA', 'R-' || number, 'SHOE-42'
    from one where ten % 2 = 0;
    insert into receiving_exception (merchant_id, exception_id, found_at, quantity, exception, asn_number, unit_identifier, line_identifier)
    select merchant_id, gen_random_uuid(), at, 1, 'short', 'LARGE', '', 'L-' || number from one where ten % 2 = 0";

/// For each number a drop-ship order with two items, a shipment and a report of cancelled units.
const FILL_DROP_SHIP: &str = "
    insert into drop_ship_order (merchant_id, drop_ship_order_id, billing_address_id, shipping_address_id, created_at, updated_at, sequence,
        status, client_identifier, content, reject_reason)
    select merchant_id, id, id, id, at, at, 0, (array['accepted', 'shipped', 'cancelled', 'rejected'])[1 + turn], 'D-' || number,
        repeat('x', 500), case turn when 3 then 'gone' end
    from one;
    insert into drop_ship_item (merchant_id, drop_ship_order_id, item_id, position, ordered, shipped, cancelled)
    select merchant_id, id, id, position, 4, 1, 1 from one, generate_series(0, 1) as position;
    insert into drop_shipment (merchant_id, drop_ship_order_id, shipment_id, created_at, identifier, content)
    select merchant_id, id, id, at, 'S-1', repeat('x', 200) from one;
    insert into drop_shipment_item (merchant_id, drop_ship_order_id, shipment_id, shipment_item_id, position, item, quantity)
    select merchant_id, id, id, id, position, position, 1 from one, generate_series(0, 1) as position;
    insert into drop_ship_cancellation (merchant_id, drop_ship_order_id, created_at, identifier, content)
    select merchant_id, id, at, 'C-1', repeat('x', 200) from one";

/// The identifiers of a ten, with a letter for their kind.
fn names(letter: char, ten: u32) -> Vec<String> {
    (ten * 10..ten * 10 + 10).map(|number| format!("{letter}-{number}")).collect()
}

fn strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// An id that is not in use.
fn new_id(number: u32) -> Uuid {
    Uuid::from_u128(u128::MAX - u128::from(number))
}

/// Runs everything that flows read and write for the shipment of the ten `ten`, in a transaction that is rolled back.
async fn of_a_shipment(store: &Store, ledger: &mut Ledger, ten: u32) {
    let (whose, name) = (merchant(ten), format!("S-{ten}"));
    let lines: Vec<String> = (0..10).map(|nth| format!("L-{nth}")).collect();
    let mut tx = store.begin(whose).await.unwrap();
    let kept = shipments::lock(&mut tx, &name).await.unwrap().unwrap();
    assert_eq!(shipment_units::of_lines(&mut tx, kept.id, &lines).await.unwrap().len(), 10);
    shipment_units::held(&mut tx, &names('U', ten)).await.unwrap();
    let part = shipment_units::lines_from(&mut tx, kept.id, (1, 3), 500).await.unwrap().unwrap();
    let keys: Vec<Vec<u8>> = part.cartons.iter().map(|carton| carton.key.to_vec()).collect();
    assert_eq!(shipment_units::cartons(&mut tx, kept.id, &keys).await.unwrap(), part.cartons);
    if kept.parts > 0 {
        assert_eq!(shipment_units::part(&mut tx, kept.id, 1).await.unwrap().lines, 10);
    }
    ledger.page("reads of a shipment");

    let new = |unit: Unit| Unit { unit: format!("N-{}", unit.unit), line: format!("N-{}", unit.line), ..unit };
    let new: Vec<Unit> = part.units.into_iter().map(new).collect();
    shipment_units::save_cartons(&mut tx, kept.id, &part.cartons).await.unwrap();
    assert_eq!(shipment_units::insert(&mut tx, kept.id, kept.units, &new).await.unwrap() as usize, new.len());
    let second = Part { asn_number: format!("{name}_2"), first: (1, 1), lines: 10 };
    shipment_units::insert_part(&mut tx, kept.id, 2, &second).await.unwrap();
    let taken = shipments::take_numbers(&mut tx, kept.id, &[second.asn_number, name.clone()]).await.unwrap();
    assert_eq!(taken.as_deref(), Some(name.as_str()));
    ledger.page("additions to a shipment");
    shipments::save(&mut tx, &kept).await.unwrap();
    shipment_units::release(&mut tx, kept.id).await.unwrap();
    let another = Shipment { id: new_id(ten), number: format!("N-{ten}").parse().unwrap(), ..kept };
    shipments::insert(&mut tx, &Shipment { state: shipment::State::Open, ..another }).await.unwrap();
    ledger.page("cancelling and creating a shipment");
    tx.rollback().await.unwrap();

    assert!(shipments::find(store, whose, &name).await.unwrap().is_some());
    ledger.page("a shipment");
    let mut before = None;
    for _ in 0..PAGES_TURNED {
        before = shipments::list(store, whose, before, MOST_LISTED).await.unwrap().1;
        ledger.page("shipments");
        if before.is_none() {
            break;
        }
    }
}

/// Runs everything that flows read and write for the ASN of the ten `ten`.
async fn of_an_asn(store: &Store, ledger: &mut Ledger, ten: u32) {
    let (whose, number) = (merchant(ten), format!("I-{ten}"));
    let StoredAsn { id, mut asn, .. } = inbound_asns::find(store, whose, &number).await.unwrap().unwrap();
    assert_eq!(asn.lines.len(), 10);
    let mut tx = store.begin(whose).await.unwrap();
    assert!(!inbound_asns::list(&mut tx, &[&number, "I-1", "I-2"]).await.unwrap().is_empty());
    assert_eq!(inbound_asns::share(&mut tx, &[id, new_id(0)]).await.unwrap().len(), 1);
    assert!(inbound_asns::lock(&mut tx, &number).await.unwrap().is_some());
    ledger.page("an ASN");
    receipts::short_lines(&mut tx, id).await.unwrap();
    assert_eq!(receipts::returns_to_close(&mut tx, id, "", 100).await.unwrap().len(), 10);
    ledger.page("reads of closing an ASN");
    inbound_asns::save_state(&mut tx, id, State::Closed, now()).await.unwrap();
    inbound_asns::replace(&mut tx, &New { id, digest: [7; 32], asn: &asn }, now()).await.unwrap();
    asn.number = format!("N-{ten}");
    let new = New { id: new_id(0), digest: [7; 32], asn: &asn };
    assert_eq!(inbound_asns::insert(&mut tx, &[new], now()).await.unwrap(), [new_id(0)]);
    ledger.page("writes of ASNs");
    tx.rollback().await.unwrap();

    for (of, most) in [(Some(asn.shipment.as_str()), 3), (None, 100)] {
        let mut before = None;
        for _ in 0..PAGES_TURNED {
            let (listed, more) = inbound_asn_pages::list(store, whose, of, before, most).await.unwrap();
            ledger.page("ASNs");
            before = listed.last().map(|last| last.id);
            if !more {
                break;
            }
        }
    }
}

/// Measures the cost of the large ASN, whose many lines each belong to a return and have missing units.
async fn of_the_large_asn(store: &Store, ledger: &mut Ledger) {
    let mut tx = store.begin(merchant(0)).await.unwrap();
    let asn = inbound_asns::list(&mut tx, &["LARGE"]).await.unwrap()[0].id;
    ledger.page("the large ASN");
    let mut after = String::new();
    for _ in 0..PAGES_TURNED {
        let next = receipts::returns_to_close(&mut tx, asn, &after, 100).await.unwrap();
        assert_eq!(next.len(), 100);
        after.clone_from(&next[99].0);
        ledger.for_each(100, "returns of the large ASN");
    }
    let lines: Vec<String> = (0..100).map(|nth| format!("L-{}", nth * 20)).collect();
    let late: Vec<(&str, &str)> = lines.iter().map(|line| ("LARGE", line.as_str())).collect();
    receiving_exceptions::fewer_missing(&mut tx, &late, now()).await.unwrap();
    ledger.for_each(100, "late units");
    tx.rollback().await.unwrap();
}

/// Runs everything that receiving the units of the ten `ten` reads and writes.
async fn of_a_reception(store: &Store, ledger: &mut Ledger, ten: u32) {
    let (whose, number, units, clients) = (merchant(ten), format!("I-{ten}"), names('U', ten), names('C', ten));
    let mut tx = store.begin(whose).await.unwrap();
    let asn = inbound_asns::list(&mut tx, &[&number]).await.unwrap()[0].id;
    let skus: Vec<String> = (0..10).map(|nth| format!("SKU-{nth}")).collect();
    let names_of = units.iter().zip(&clients).zip(&skus);
    let wanted =
        names_of.map(|((unit, client), sku)| LineQuery { asn, line: Some("L-9"), unit, client_unit: Some(client), sku: Some(sku) });
    let wanted: Vec<LineQuery<'_>> = wanted.collect();
    let returns = receipts::returns_of(&mut tx, &wanted).await.unwrap();
    assert_eq!(rmas::lock_many(&mut tx, &strs(&returns)).await.unwrap().len(), 10);
    ledger.page("the returns that units may belong to");
    assert_eq!(receipts::lock_lines(&mut tx, &wanted).await.unwrap().len(), 10);
    assert_eq!(receipts::known(&mut tx, &strs(&units)).await.unwrap().len(), 10);
    ledger.page("lines and receipts of units");
    assert_eq!(provenance::list(&mut tx, &strs(&units)).await.unwrap().len(), 10);
    ledger.page("the receipts of units that are shipped");
    let numbers = names('T', ten);
    assert_eq!(parcels::returns_of(&mut tx, &strs(&numbers)).await.unwrap().len(), 10);
    ledger.page("the returns of parcels");
    let id = rmas::lock_many(&mut tx, &strs(&returns)).await.unwrap()[0].id;
    let returned = Receipt { asn: None, rma: Some(id), ..receipt(asn, "RETURNED", "L1") };
    assert_eq!(receipts::insert(&mut tx, &[returned], now()).await.unwrap(), 1);
    ledger.page("a receipt for a return");

    let plates = names('N', ten);
    let rows: Vec<Receipt<'_>> = plates.iter().zip(["L-6", "L-7", "L-8", "L-9"]).map(|(unit, line)| receipt(asn, unit, line)).collect();
    assert_eq!(receipts::insert(&mut tx, &rows, now()).await.unwrap(), rows.len());
    ledger.page("writes of receipts");
    receiving_exceptions::resolve_units(&mut tx, &strs(&units), now()).await.unwrap();
    receiving_exceptions::fewer_missing(&mut tx, &[(&number, "L-6"), (&number, "L-6"), (&number, "L-8")], now()).await.unwrap();
    let found: Vec<NewException<'_>> = plates.iter().zip(0..).map(|(unit, nth)| unexpected(&number, unit, new_id(nth))).collect();
    receiving_exceptions::insert(&mut tx, &found, now()).await.unwrap();
    ledger.page("writes of exceptions");
    tx.rollback().await.unwrap();

    assert!(rmas::find_by_parcel(store, whose, &numbers[0]).await.unwrap().is_some());
    ledger.page("the return of a parcel");
    let mut before = None;
    for _ in 0..PAGES_TURNED {
        let (listed, more) = rmas::list_expected(store, whose, before, MOST_LISTED).await.unwrap();
        ledger.page("expected returns");
        before = listed.last().map(|last| last.id);
        if !more {
            break;
        }
    }
    for of in [None, Some(Target::Asn(&number))] {
        let mut before = None;
        for _ in 0..PAGES_TURNED {
            let (listed, more) = receiving_exceptions::list(store, whose, of, before, MOST_LISTED).await.unwrap();
            ledger.page("exceptions");
            before = listed.last().map(|last| last.id);
            if !more {
                break;
            }
        }
    }
}

fn receipt<'a>(asn: Uuid, unit: &'a str, line: &'a str) -> Receipt<'a> {
    Receipt {
        unit,
        asn: Some(asn),
        rma: None,
        line,
        warehouse: "WH-1",
        client_unit: None,
        sku: None,
        upc: None,
        condition: Condition::N,
        channel: None,
        serial_number: None,
        asin: None,
        return_reason: None,
        reject_reason: None,
        user: None,
        tracking_number: None,
        location: None,
    }
}

fn unexpected<'a>(asn_number: &'a str, unit: &'a str, id: Uuid) -> NewException<'a> {
    NewException {
        id,
        exception: Exception::UnexpectedUnit,
        target: Target::Asn(asn_number),
        unit: Some(unit),
        line: None,
        sku: None,
        quantity: 1,
        warehouse: None,
        condition: None,
        user: None,
    }
}

/// Runs everything that flows read and write for the drop-ship order `number`.
async fn of_a_drop_ship_order(store: &Store, ledger: &mut Ledger, number: u32) {
    let (whose, name) = (merchant(number / 10), format!("D-{number}"));
    assert!(drop_ship_orders::exists(store, whose, &name).await.unwrap());
    assert!(drop_ship_orders::find(store, whose, &name).await.unwrap().is_some());
    let mut tx = store.begin(whose).await.unwrap();
    let mut kept = drop_ship_orders::lock(&mut tx, &name).await.unwrap().unwrap();
    assert_eq!(drop_ship_orders::contents(&mut tx, &[&name, "N-1", "N-2"]).await.unwrap().len(), 1);
    assert!(drop_shipments::find(&mut tx, kept.id, "S-1").await.unwrap().is_some());
    assert!(drop_ship_cancellations::find(&mut tx, kept.id, "C-1").await.unwrap().is_some());
    ledger.page("reads of a drop-ship order");

    drop_ship_orders::save(&mut tx, &kept).await.unwrap();
    let items = (0..2).map(|item| DropShipmentItem { id: new_id(number), item, quantity: 1 }).collect();
    let shipment = DropShipment { id: new_id(number), identifier: "S-2".to_owned(), created_at: now(), content: "{}".to_owned(), items };
    drop_shipments::insert(&mut tx, kept.id, &shipment).await.unwrap();
    drop_ship_cancellations::insert(&mut tx, kept.id, "C-2", "{}", now()).await.unwrap();
    erasures::erase_drop_ship_order(&mut tx, kept.id, "{}", "nobody").await.unwrap();
    ledger.page("writes of a drop-ship order");
    let of = kept.id;
    (kept.id, kept.client_identifier) = (new_id(number), format!("N-{number}"));
    assert_eq!(drop_ship_orders::insert(&mut tx, &[kept], now()).await.unwrap().len(), 1);
    ledger.page("a new drop-ship order");
    tx.rollback().await.unwrap();

    assert_eq!(drop_shipments::list(store, whose, of).await.unwrap()[0].items.len(), 2);
    ledger.page("shipments of a drop-ship order");
    for status in [None, Some(Status::Accepted), Some(Status::Shipped), Some(Status::PartiallyShipped)] {
        let mut before = None;
        for _ in 0..PAGES_TURNED {
            before = drop_ship_orders::list(store, whose, status, before, MOST_LISTED).await.unwrap().next;
            ledger.page("drop-ship orders");
            if before.is_none() {
                break;
            }
        }
    }
}

/// Runs everything that flows read and write for the exchange order of the order `number`.
async fn of_an_exchange(store: &Store, ledger: &mut Ledger, number: u32) {
    let (whose, order) = (merchant(number / 10), format!("A-{number}"));
    let mut exchange = exchange_orders::find(store, whose, &order).await.unwrap().unwrap();
    let mut tx = store.begin(whose).await.unwrap();
    assert!(exchange_orders::of_message(&mut tx, exchange.message).await.unwrap().is_some());
    assert!(exchange_orders::of_order(&mut tx, &order).await.unwrap().is_some());
    assert_eq!(exchange_orders::hold(&mut tx, exchange.message).await.unwrap(), Some(exchange.state));
    assert!(exchange_orders::lock(&mut tx, &order).await.unwrap().is_some());
    assert!(attempts::were_answered_with(&mut tx, exchange.message, 2, &[new_id(number)], &[409]).await.unwrap());
    attempts::were_answered(&mut tx, exchange.message).await.unwrap();
    ledger.page("reads of an exchange order");

    let placed = Placed { order_identifier: None, total: Cents::new(1), product: None, tax: None };
    exchange_orders::place(&mut tx, &order, &placed, now()).await.unwrap();
    exchange_orders::mark_listed(&mut tx, &order, now()).await.unwrap();
    exchange_orders::identify(&mut tx, &order, &format!("Y-{number}")).await.unwrap();
    exchange_orders::convert(&mut tx, &order, now()).await.unwrap();
    (exchange.original_order, exchange.message, exchange.state) = (format!("N-{number}"), new_id(number), ExchangeState::Pending);
    exchange_orders::insert(&mut tx, &exchange, now()).await.unwrap();
    ledger.page("writes of exchange orders");
    tx.rollback().await.unwrap();

    assert!(!exchange_orders::list_unidentified(store, now(), 100).await.unwrap().is_empty());
    ledger.page("exchange orders without a name");
}

/// Runs everything that erasing the shopper of the order `number` reads and overwrites. Finding a shopper's orders is left
/// out, because it searches all orders of a merchant.
async fn of_an_erasure(store: &Store, ledger: &mut Ledger, number: u32) {
    let (whose, order) = (merchant(number / 10), format!("A-{number}"));
    let mut tx = store.begin(whose).await.unwrap();
    let returns = erasures::lock_returns(&mut tx, &order).await.unwrap();
    let name = returns[0].identifier.as_str();
    let on = [(Kind::Of(Interface::Rma), name), (Kind::Internal(Internal::Label), name), (Kind::Of(Interface::ExchangeOrder), &order)];
    let messages = erasures::messages(&mut tx, &on).await.unwrap();
    assert_eq!((returns.len(), messages.len()), (1, 3));
    ledger.page("messages about a shopper");
    erasures::outstanding(&mut tx, &messages).await.unwrap();
    assert_eq!(erasures::erase_messages(&mut tx, &messages, "{}").await.unwrap(), 3);
    ledger.page("erasing messages");
    erasures::erase_order(&mut tx, &order, "{}", None).await.unwrap();
    return_drafts::erase(&mut tx, &order).await.unwrap();
    withdrawal_drafts::lock_of_order(&mut tx, &order).await.unwrap();
    withdrawal_drafts::erase(&mut tx, &order).await.unwrap();
    withdrawal_links::forget_of(&mut tx, &order).await.unwrap();
    withdrawals::erase(&mut tx, &order).await.unwrap();
    erasures::erase_returns(&mut tx, &returns).await.unwrap();
    ledger.page("erasing an order");
    tx.rollback().await.unwrap();
}

#[tokio::test]
async fn the_statements_of_warehouses_exchanges_and_erasing_go_by_their_indexes() {
    let count: i32 = std::env::var("UNITS").map_or(20_000, |count| count.parse().unwrap());
    let options = database::create("warehouse").await;
    let mut beside = options.connect().await.unwrap();
    // The data is consistent, and checking the foreign keys of every row would double the time.
    sqlx::raw_sql("set session_replication_role = replica").execute(&mut beside).await.unwrap();
    sqlx::raw_sql(NUMBERS).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_NUMBERS).bind(count).bind(now()).execute(&mut beside).await.unwrap();
    for fill in [FILL_ORDERS, FILL_MESSAGES, FILL_SHIPMENTS, FILL_ASNS, FILL_LARGE_ASN, FILL_DROP_SHIP, "vacuum analyze"] {
        sqlx::raw_sql(fill).execute(&mut beside).await.unwrap();
    }
    let (store, mut ledger) = Ledger::open(&options, &mut beside).await;
    // Often enough for PostgreSQL to switch to a generic plan.
    for turn in 0..14 {
        let ten = (turn * 111 + 3) % u32::try_from(count / 10).unwrap();
        let number = ten * 10 + turn % 10;
        of_a_shipment(&store, &mut ledger, ten).await;
        of_an_asn(&store, &mut ledger, ten).await;
        of_the_large_asn(&store, &mut ledger).await;
        of_a_reception(&store, &mut ledger, ten).await;
        of_a_drop_ship_order(&store, &mut ledger, number).await;
        of_an_exchange(&store, &mut ledger, number).await;
        of_an_erasure(&store, &mut ledger, number).await;
    }
    println!(
        r#"{{"bench":"warehouse-plans","units":{count},"statements":{},"most_sorted":{},"most_pages":{}}}"#,
        ledger.statements, ledger.most_sorted, ledger.most_pages,
    );
}
