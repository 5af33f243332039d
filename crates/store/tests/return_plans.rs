//! The plans of the statements about returns: they use their indexes, however many orders and returns there are.
//!
//! `ORDERS` sets the number of orders, half of them with a return: 20,000, or 200,000 with `make plan-returns`. The last
//! line of output is a JSON object for scripts. The pages come from `auto_explain`, which needs a superuser.
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

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::rma::Status;
use domain::returns::rma::policy::Policy;
use sqlx::ConnectOptions as _;
use store::Store;
use store::orders::{order_pages, refunds, snapshots};
use store::returns::carrier_events::{WaitingEvent, WaitsFor};
use store::returns::rma_pages::{Filter, MOST_LISTED};
use store::returns::{
    carrier_events, idempotency, overdue_refunds, parcels, return_policies, returnable_orders, rma_pages, rmas, unit_claims,
};
use uuid::Uuid;

use self::ledger::Ledger;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Every second order belongs to the first merchant, the others to one of 19 merchants.
fn merchant(number: u32) -> MerchantId {
    MerchantId(Uuid::from_u128(if number.is_multiple_of(2) { 1 } else { 2 + u128::from(number / 2 % 19) }))
}

/// The orders, and the policies and endpoints of 2,000 merchants.
const FILL_ORDERS: &str = "
    with policy as (
        insert into return_policy (merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted,
            tags, tag_rules)
        select lpad(to_hex(number), 32, '0')::uuid, $2, 30, 20000, false, array['TOO_SMALL'], array['mail-back'], array[0::bigint],
            array[false], array[]::text[], array[]::text[]
        from generate_series(1, 2000) as number
    ),
    former as (
        insert into former_policy (merchant_id, changed_at, window_days, express_limit, managed_receiving, reasons, methods, fees, deducted,
            tags, tag_rules, gift_card_bonus_cents, refusals_are_final, exchange_reasons, refund_closes, version, replaced_at)
        select lpad(to_hex(number), 32, '0')::uuid, $2, 30, 20000, false, array['TOO_SMALL'], array['mail-back'], array[0::bigint],
            array[false], array[]::text[], array[]::text[], 0, false, array[]::text[], 'all', version, $2
        from generate_series(1, 20) as number, generate_series(2, 501) as version
    ),
    endpoints as (
        insert into endpoint (merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url, key_id,
            authentication, secret)
        select id, id, $2, $2, 1, 10, 20, number % 256, 'exchange_order', 'https://hooks.example.com/', 'k', '', ''
        from generate_series(1, 2000) as number, lateral (select lpad(to_hex(number), 32, '0')::uuid as id) as ids
    )
    insert into customer_order (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, snapshot, has_returns)
    select lpad(to_hex(case when number % 2 = 0 then 1 else 2 + number / 2 % 19 end), 32, '0')::uuid, 'A-' || number, 'Shipped',
        $2, $2, $2, 1, sha256(number::text::bytea), repeat('x', 500), number < $1 / 2
    from generate_series(0, $1 - 1) as number";

/// The merchants of the orders, and their accounts with a carrier.
const FILL_MERCHANTS: &str = "
    with accounts as (
        insert into carrier_account (merchant_id, changed_at, usual_weight, carrier, url, key_id, api_key, webhook_secret, destination)
        select lpad(to_hex(number), 32, '0')::uuid, $1, 1000, 'easypost', 'https://carrier.example.com/', 'k', '', '', '{}'
        from generate_series(1, 2000) as number
    )
    insert into merchant (merchant_id, handle, name, created_at)
    select lpad(to_hex(number), 32, '0')::uuid, 'shop-' || number, 'Shop ' || number, $1 from generate_series(1, 2000) as number";

/// A return of two units for the first half of the orders. A quarter is refunded, a quarter cancelled, and the rest is
/// waiting to be woken. Each has a label, the key of the request that started it, its draft, and an event that waits for another label.
const FILL_RETURNS: &str = "
    with row as (
        select number, lpad(to_hex(case when number % 2 = 0 then 1 else 2 + number / 2 % 19 end), 32, '0')::uuid as merchant_id,
            $2 - interval '30 days' * (1 - number::float8 / $1) as at, number / 40 % 4 as turn
        from generate_series(0, $1 / 2 - 1) as number
    ),
    started as materialized (
        select *, (left(first_id(at)::text, 24) || lpad(to_hex(number), 12, '0'))::uuid as rma_id from row
    ),
    returned as (
        insert into rma (merchant_id, rma_id, created_at, updated_at, wakes_at, sequence, shipping_cost_cents, gift, receiving_closed,
            reminded, method, status, identifier, order_identifier, cancel_reason)
        select merchant_id, rma_id, at, at, case when turn > 1 then at + interval '21 days' end, 1, 0, false, false, false, 'mail-back',
            case turn when 0 then 'REFUNDED' when 1 then 'CANCELED' else 'CREATED' end, 'R-' || number, 'A-' || number,
            case turn when 1 then 'expired' end
        from started
    ),
    units as (
        insert into rma_item (merchant_id, rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents,
            shopper_cents, position, unit, exchange_owed, refund_type, order_line, sku, reason, parcel, tracking_number, refund_identifier)
        select merchant_id, rma_id, 5000, 0, 400, 5400, 0, 0, 5400, position, position + 1, false, 'REFUND', 'L1', 'SHOE-42', 'NOT_GIVEN',
            'PRE_TRANSIT', 'T-' || number, case turn when 0 then 'F-' || number end
        from started, generate_series(0, 1) as position
    ),
    claims as (
        insert into unit_claim (merchant_id, rma_id, unit, order_identifier, order_line)
        select merchant_id, rma_id, unit, 'A-' || number, 'L1' from started, generate_series(1, 2) as unit where turn <> 1
    ),
    labels as (
        insert into parcel (merchant_id, rma_id, tracking_number) select merchant_id, rma_id, 'T-' || number from started
    ),
    early as (
        insert into carrier_event (merchant_id, event_id, received_at, occurred_at, event, waits_for)
        select merchant_id, rma_id, at, at, 'in_transit', 'tracking E-' || number from started
    ),
    keys as (
        insert into idempotency_key (merchant_id, used_at, request_hash, key, answer)
        select merchant_id, at, sha256(number::text::bytea), 'K-' || number, repeat('y', 500) from started
    ),
    drafts as (
        insert into return_draft (merchant_id, draft_id, order_identifier, created_at, changed_at, revision, answers, rma_identifier)
        select merchant_id, rma_id, 'A-' || number, at, at, 1, '{}', 'R-' || number from started
    ),
    exchanged as (
        insert into exchange_order (merchant_id, rma_id, message_id, created_at, ended_at, state, original_order_identifier)
        select merchant_id, rma_id, rma_id, at, at, 'converted', 'A-' || number from started where turn = 1
    ),
    refunded as (
        insert into refund (merchant_id, identifier, order_identifier, total_cents, refunded_at, received_at)
        select merchant_id, 'F-' || number, 'A-' || number, 10800, at, at from started where turn = 0
    )
    insert into refund_line (merchant_id, identifier, refund_identifier, order_identifier, order_line, quantity)
    select merchant_id, 'F-' || number || '-1', 'F-' || number, 'A-' || number, 'L1', 2 from started where turn = 0";

/// Runs everything that flows read and write for the return `number`, in a transaction that is rolled back.
async fn of_a_return(store: &Store, ledger: &mut Ledger, number: u32) {
    let (whose, order, name) = (merchant(number), format!("A-{number}"), format!("R-{number}"));
    let mut tx = store.begin(whose).await.unwrap();
    assert!(snapshots::lock(&mut tx, &order).await.unwrap().is_some());
    return_policies::get(&mut tx).await.unwrap();
    idempotency::find(&mut tx, &format!("K-{number}"), now()).await.unwrap();
    returnable_orders::of_locked(&mut tx, &order).await.unwrap();
    ledger.by_indexes("reads of starting a return");

    let mut kept = rmas::lock(&mut tx, &name).await.unwrap().unwrap();
    assert!(rmas::lock_by_id(&mut tx, kept.id).await.unwrap().is_some());
    assert!(rmas::lock_by_parcel(&mut tx, &format!("T-{number}")).await.unwrap().is_some());
    rmas::lock_of_orders(&mut tx, &[&order, "A-1", "A-2"]).await.unwrap();
    refunds::ledgers(&mut tx, &[&order, "A-1", "A-2"]).await.unwrap();
    refunds::of_other_orders(&mut tx, &[(&order, &format!("F-{number}"))]).await.unwrap();
    refunds::lines_of_other_orders(&mut tx, &[(&order, &format!("F-{number}-1"))]).await.unwrap();
    snapshots::snapshot(&mut tx, &order).await.unwrap();
    ledger.by_indexes("reads of changing a return");

    kept.sequence += 1;
    rmas::save(&mut tx, &mut kept).await.unwrap();
    unit_claims::release(&mut tx, kept.id).await.unwrap();
    (kept.rma.status, kept.cancel_reason) = (Status::Created, None);
    (kept.id, kept.identifier) = (Uuid::from_u128(kept.id.as_u128() + 1), format!("N-{number}"));
    rmas::insert(&mut tx, &kept).await.unwrap();
    idempotency::insert(&mut tx, &format!("N-{number}"), &[7; 32], "{}", now()).await.unwrap();
    return_policies::save(&mut tx, &Policy::default(), "test", now()).await.unwrap();
    ledger.by_indexes("writes of a return");

    let (known, new) = (format!("T-{number}"), format!("N-{number}"));
    assert!(parcels::find(&mut tx, &known).await.unwrap().is_some());
    assert!(parcels::expect(&mut tx, &new).await.unwrap().is_none());
    assert!(parcels::claim(&mut tx, &new, kept.id, None).await.unwrap());
    let event = WaitingEvent { event: "in_transit".to_owned(), occurred_at: now(), handed_over: None };
    carrier_events::keep(&mut tx, Uuid::from_u128(u128::from(number)), WaitsFor::Tracking(&new), &event, now()).await.unwrap();
    assert_eq!(carrier_events::take(&mut tx, &name, &format!("E-{number}")).await.unwrap().len(), 1);
    ledger.by_indexes("a carrier event");
    tx.rollback().await.unwrap();

    assert!(rmas::find(store, whose, &name).await.unwrap().is_some());
    unit_claims::list(store, whose, &order).await.unwrap();
    assert!(returnable_orders::find(store, whose, &order, &[]).await.unwrap().is_some());
    return_policies::current(store, whose).await.unwrap();
    assert_eq!(rmas::due_to_wake(store, now(), 100).await.unwrap().len(), 100);
    ledger.by_indexes("reads outside of a transaction");
}

/// The reads of the console's pages on the return `number` and its order, and a page of each list.
async fn of_a_page(store: &Store, ledger: &mut Ledger, number: u32) {
    let (whose, order, name) = (merchant(number), format!("A-{number}"), format!("R-{number}"));
    let kept = rmas::find(store, whose, &name).await.unwrap().unwrap();
    overdue_refunds::due_of(store, whose, kept.id).await.unwrap();
    carrier_events::list_waiting(store, whose, &name, 20).await.unwrap();
    refunds::list(store, whose, &order).await.unwrap();
    ledger.page("the page of a return");
    return_policies::current_version(store, whose).await.unwrap();
    assert_eq!(return_policies::list_former(store, whose, 300, 21).await.unwrap().len(), 21);
    ledger.page("the page of a policy");
    for (statuses, count) in [(Status::ALL, 51), (&[Status::PartialRefund][..], 0)] {
        let found = rma_pages::list_across(store, statuses, (None, None), None, 51).await.unwrap();
        assert_eq!(found.len(), count);
        ledger.page("a page of all merchants' returns");
    }
    for filter in [order_pages::Filter::default(), order_pages::Filter { status: Some("Created".to_owned()), ..Default::default() }] {
        order_pages::list(store, whose, &filter, Some(&order), 50).await.unwrap();
        ledger.page("a page of a merchant's orders");
    }
    // All of them changed at once, so the list goes on by their identifiers.
    for status in [None, Some("Cancelled".to_owned())] {
        let changes = order_pages::Changes { since: Some(now()), status };
        for before in [None, Some((now(), order.clone()))] {
            order_pages::list_changed(store, whose, &changes, before, 100).await.unwrap();
            ledger.page("a page of a merchant's orders by their last change");
        }
    }
}

/// Every kind of list, some of them for the return `number`.
fn lists(number: u32) -> Vec<(&'static str, Filter)> {
    let filter = Filter::default;
    let at = |status| Filter { status: Some(status), ..filter() };
    let (order, tracking_number) = (Some(format!("A-{number}")), Some(format!("T-{number}")));
    let day = |of: Filter| Filter { from: Some(now() - TimeDelta::days(20)), to: Some(now() - TimeDelta::days(19)), ..of };
    vec![
        ("all", filter()),
        ("created", at(Status::Created)),
        ("refunded", at(Status::Refunded)),
        ("none", at(Status::PartialRefund)),
        ("a day", day(filter())),
        ("a day's cancelled", day(at(Status::Cancelled))),
        ("an order's", Filter { order: order.clone(), ..filter() }),
        ("an order's refunded", Filter { order, ..at(Status::Refunded) }),
        ("a label's", Filter { tracking_number: tracking_number.clone(), ..filter() }),
        ("a label's created", Filter { tracking_number, ..at(Status::Created) }),
    ]
}

#[tokio::test]
async fn the_statements_of_returns_go_by_their_indexes() {
    let count: i32 = std::env::var("ORDERS").map_or(20_000, |count| count.parse().unwrap());
    let options = database::create("returns").await;
    let mut beside = options.connect().await.unwrap();
    sqlx::query(FILL_ORDERS).bind(count).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_MERCHANTS).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_RETURNS).bind(count).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::raw_sql("vacuum analyze").execute(&mut beside).await.unwrap();
    let (store, mut ledger) = Ledger::open(&options, &mut beside).await;
    // Often enough for PostgreSQL to switch to a generic plan.
    for turn in 0..14 {
        let number = (turn * 1_111 + 3) % u32::try_from(count / 2).unwrap();
        of_a_return(&store, &mut ledger, number).await;
        of_a_page(&store, &mut ledger, number).await;
        for (what, filter) in lists(number) {
            let mut before = None;
            for _ in 0..3 {
                let page = rma_pages::list(&store, merchant(number), &filter, before, MOST_LISTED).await.unwrap();
                ledger.page(what);
                assert!(page.returns.iter().all(|listed| filter.status.is_none_or(|status| listed.status == status)), "{what}");
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
        }
    }
    println!(
        r#"{{"bench":"return-plans","orders":{count},"returns":{},"statements":{},"most_sorted":{},"most_pages":{}}}"#,
        count / 2,
        ledger.statements,
        ledger.most_sorted,
        ledger.most_pages,
    );
}
