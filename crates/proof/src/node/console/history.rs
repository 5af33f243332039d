//! The history that the console's pages read: orders, returns, messages with their attempts, and whatever waits for a person.
//!
//! Half of the messages belong to the first merchant. Rows are written in the order of time, so that those of an endpoint lie apart
//! from each other, as in an installation that has grown.

use anyhow::Context as _;
use backhaul::app::App;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use sandbox::merchant::{Answer, Merchant};
use uuid::Uuid;

use crate::orders::intake::preload;
use crate::stage::Stage;

/// The number of stored rows.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) orders: u64,
    /// Messages, each with three attempts.
    pub(crate) messages: u64,
    /// Open entries of the failure queue.
    pub(crate) failures: u64,
}

/// Merchants whose systems refuse the messages of [`FAILING`]: the first ones.
const REFUSING: usize = 9;
pub(super) const FAILING: Interface = Interface::OutboundAsn;
/// The shopper whose orders are searched for.
pub(super) const SHOPPER: &str = "pat@example.com";

/// Merchants are live, but for the last quarter.
const MERCHANTS: &str = "
    update merchant set created_at = now() - interval '60 days',
        live_at = case when at <= 75 then now() - interval '50 days' end, live_by = case when at <= 75 then 'proof' end,
        first_order_at = case when at <= 75 then now() - interval '55 days' end
    from unnest($1::uuid[]) with ordinality as stored (id, at)
    where merchant.merchant_id = stored.id";

const SHOPPERS_ORDERS: &str = "
    update customer_order set email_fingerprint = $1, received_at = now() - interval '3 days'
    where merchant_id = any($2) and identifier = any(select lpad((n * 7)::text, 12, '0') from generate_series(0, 29) as n)";

/// One message in 20 of the first merchant is about one of four subjects, which have a long history. Nobody reads the feed here, so
/// positions leave gaps.
const MESSAGES: &str = "
    insert into message (merchant_id, message_id, position, sequence, kind, event, subject, body)
    select $1[1 + case when n % 2 = 0 then 0 else n / 2 % 100 end],
        (left(first_id(now() - interval '27 days' + interval '27 days' * (n::float8 / $2))::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
        n + 1, 1 + n / 6 % 1000, 'rma', 'rma.tracking_updated',
        case when n % 20 = 0 then 'R-' || n / 20 % 4 else 'R-' || n / 6 end,
        '{\"rma_identifier\":\"R-' || n / 6 || '\",\"status\":\"CREATED\",\"lines\":[' || repeat('{\"sku\":\"SHOE-42\"},', 20) || '{}]}'
    from generate_series(0, $2 - 1) as n";

const ATTEMPTS: &str = "
    insert into attempt (merchant_id, attempt_id, message_id, endpoint_id, started_at, took_ms, number, status, outcome, answer)
    select $1[m], (left(first_id(at + try * interval '1 second')::text, 24) || lpad(to_hex(n * 4 + try), 12, '0'))::uuid,
        (left(first_id(at)::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, $3[m], at + try * interval '1 second', 20, try,
        case try when 3 then 200 else 503 end, case try when 3 then '200' else '503' end, '\\x7b226f6b223a747275657d'
    from generate_series(0, $2 - 1) as n,
        lateral (
            select 1 + case when n % 2 = 0 then 0 else n / 2 % 100 end as m,
                now() - interval '27 days' + interval '27 days' * (n::float8 / $2) as at
        ) as row,
        generate_series(1, 3) as try";

/// Whatever is written from now on comes after these.
const COUNTERS: &str = "update feed_counter set last = 1::bigint << 42, last_message = gen_random_uuid()";

/// Three in five entries form one large group; the others are spread over all refusing systems and five reasons.
const FAILURES: &str = "
    with entry as materialized (
        select n, case when n % 5 < 3 then 1 else 1 + n % $4 end as m,
            case when n % 5 < 3 then '503' else (array['503', 'timed out', '404', '422', 'connection refused'])[1 + n / 5 % 5] end as reason,
            now() - interval '6 days' + interval '6 days' * (n::float8 / $3) as at
        from generate_series(0, $3 - 1) as n
    ),
    failed as materialized (
        select *, (left(first_id(at)::text, 24) || lpad(to_hex(n + (1::bigint << 40)), 12, '0'))::uuid as id from entry
    ),
    written as (
        insert into message (merchant_id, message_id, position, sequence, kind, event, subject, body)
        select $1[m], id, n + (1::bigint << 40), 1, $5, 'outbound_asn.shipped', 'SHP-' || n, '{\"asn\":\"SHP-' || n || '\"}' from failed
    ),
    tried as (
        insert into attempt (merchant_id, attempt_id, message_id, endpoint_id, started_at, took_ms, number, status, outcome, answer)
        select $1[m], (left(first_id(at + try * interval '1 second')::text, 24) || lpad(to_hex((n + (1::bigint << 40)) * 8 + try), 12, '0'))::uuid,
            id, $2[m], at, 40, try, 503, reason, 'no'
        from failed, generate_series(1, 6) as try
    )
    insert into failure (
        merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, contacted_at, owner, body
    )
    select $1[m], id, $2[m], 1, at + interval '10 minutes', 6, $5, 'outbound_asn.shipped', 'SHP-' || n, reason,
        case when n % 7 = 0 then 'contacted' else 'open' end, case when n % 7 = 0 then now() end,
        case when n % 3 = 0 then 'Pat' when n % 11 = 0 then 'Sam' end, '{\"asn\":\"SHP-' || n || '\"}'
    from failed";

const NOTES: &str = "
    insert into failure_note (merchant_id, message_id, note_id, made_at, actor, kind, text)
    select merchant_id, message_id, gen_random_uuid(), failed_at, 'Pat', note.kind, 'Their gateway is down.'
    from failure, unnest(array['owner', 'note', 'contacted']) as note (kind)
    where subject like '%0'";

/// Messages that wait for their next attempt at refusing systems.
const WAITING: &str = "
    with row as materialized (
        select n, 1 + n % $4 as m,
            (left(first_id(now() - interval '1 hour')::text, 24) || lpad(to_hex(n + (1::bigint << 41)), 12, '0'))::uuid as id
        from generate_series(0, $3 / 4 - 1) as n
    ),
    written as (
        insert into message (merchant_id, message_id, position, sequence, kind, event, subject, body)
        select $1[m], id, n + (1::bigint << 41), 1, $5, 'outbound_asn.shipped', 'OWED-' || n, '{}' from row
    )
    insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
    select $1[m], id, $2[m], 1, now() + interval '6 hours' + n * interval '1 second', 3, 0, false, 'OWED-' || n from row";

const REPORTED: &str = "
    insert into endpoint_notice (merchant_id, endpoint_id, failing_since, failures_open_since, sequence)
    select $1[m], $2[m], now() - m * interval '1 hour', now() - interval '6 days', 1 from generate_series(1, $3) as m";

/// Calls by the hour: three rows for a healthy endpoint, and twelve for one that refuses.
const CALLS: &str = "
    insert into attempt_hourly (merchant_id, endpoint_id, hour, count, number, kind, outcome)
    select endpoint.merchant_id, endpoint.endpoint_id, hour, 40, call.number, endpoint.interface, call.outcome
    from generate_series(date_trunc('hour', now()) - interval '27 days', date_trunc('hour', now()), interval '1 hour') as hour, endpoint,
        lateral (
            select outcome, number from (values ('200', 1), ('503', 1), ('200', 2)) as healthy (outcome, number)
            where endpoint.interface <> $1
            union all
            select outcome, number from unnest(array['503', 'timed out']) as outcome, generate_series(1, 6) as number
            where endpoint.interface = $1
        ) as call
    order by hour, md5(endpoint.endpoint_id::text || hour)";

const DELIVERED: &str = "
    insert into delivered_hourly (merchant_id, endpoint_id, hour, count, within_ms, attempts, kind)
    select endpoint.merchant_id, endpoint.endpoint_id, hour, 20, within_ms, attempts, endpoint.interface
    from generate_series(date_trunc('hour', now()) - interval '27 days', date_trunc('hour', now()), interval '1 hour') as hour, endpoint,
        (values (100, 1), (1000, 1), (60000, 2)) as arrived (within_ms, attempts)
    where endpoint.interface <> $1
    order by hour, md5(endpoint.endpoint_id::text || hour)";

/// One return in eight is overdue for its refund, and another one will be. A warehouse waits for one in four.
const RETURNS: &str = "
    insert into rma (
        merchant_id, rma_id, created_at, updated_at, sequence, shipping_cost_cents, gift, receiving_closed, reminded, method, status,
        identifier, order_identifier, refund_due_at, expected
    )
    select $1[1 + n % 100], md5('rma' || n)::uuid, at, at, 1, 0, false, false, false, 'mail-back', 'CREATED',
        'R-' || upper(left(md5(n::text), 8)) || '-' || n, lpad(n::text, 12, '0'),
        case n % 8 when 0 then at + interval '14 days' when 1 then now() + interval '5 days' end, n % 4 = 2
    from generate_series(0, $2 / 20) as n, lateral (select now() - interval '40 days' + n * interval '1 second' as at) as row";

const ITEMS: &str = "
    insert into rma_item (
        merchant_id, rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents, position,
        unit, exchange_owed, refund_type, order_line, sku, reason, parcel, tracking_number
    )
    select $1[1 + n % 100], md5('rma' || n)::uuid, 5000, 0, 400, 5400, 0, 0, 5400, 0, 1, false, 'REFUND', 'L1', 'SHOE-42-1', 'NOT_GIVEN',
        case n % 8 when 0 then 'TRANSIT' else 'PRE_TRANSIT' end, '1Z' || lpad(n::text, 16, '0')
    from generate_series(0, $2 / 20) as n";

const PARCELS: &str = "
    insert into parcel (merchant_id, rma_id, tracking_number)
    select $1[1 + n % 100], md5('rma' || n)::uuid, '1Z' || lpad(n::text, 16, '0') from generate_series(0, $2 / 20) as n";

const RECEIPTS: &str = "
    insert into receipt (merchant_id, rma_id, received_at, unit_identifier, line_identifier, warehouse_id, condition)
    select $1[1 + n % 100], md5('rma' || n)::uuid, now(), 'UNIT-' || n, 'L1', 'W1', 'GOOD' from generate_series(0, $2 / 20) as n";

const ASNS: &str = "
    insert into inbound_asn (
        merchant_id, asn_id, created_at, updated_at, announced, line_count, has_returns, state, digest, asn_number, shipment_identifier,
        from_identifier, from_type, to_identifier, to_type
    )
    select $1[1 + n % 100], md5('asn' || n)::uuid, now(), now(), 10, 10, false, 'open', sha256('x'), 'ASN-' || n, 'S-' || n, 'V1', 'vendor',
        'W1', 'warehouse'
    from generate_series(0, $2 / 100) as n";

/// The first ASN has ten thousand lines, and as many units have arrived.
const LARGE_ASN: &str = "
    with large as materialized (select merchant_id, asn_id from inbound_asn where asn_number = 'ASN-0'),
    announced as (
        insert into asn_line (merchant_id, asn_id, position, carton, quantity, received, line_identifier, sku)
        select merchant_id, asn_id, n, n / 100, 1, 1, 'L' || n, 'SHOE-42' from large, generate_series(1, least($2 / 20, 10000)) as n
    )
    insert into receipt (merchant_id, asn_id, received_at, unit_identifier, line_identifier, warehouse_id, condition)
    select merchant_id, asn_id, now(), 'LARGE-' || n, 'L' || n, 'W1', 'A'
    from large, generate_series(1, least($2 / 20, 10000)) as n where cardinality($1) > 0";

const SHIPMENTS: &str = "
    insert into outbound_shipment (
        merchant_id, shipment_id, created_at, updated_at, ship_date, sequence, units, cartons, parts, state, kind, asn_number, request_hash,
        channel, shipment_identifier, tracking_numbers, from_identifier, to_identifier, to_type, to_name, to_street, to_city, to_state, to_zip
    )
    select $1[1 + n % 100], md5('out' || n)::uuid, now(), now(), now(), 1, 1, 1, 1, 'shipped', 'freight', 'OUT-' || n, sha256('x'), 'RTS',
        'PO-' || n, '{}', 'W1', 'W2', 'warehouse', 'Dock', '7 Dock Rd', 'Reno', 'NV', '89501'
    from generate_series(0, $2 / 100) as n";

const DROP_SHIPS: &str = "
    with made as (
        insert into drop_ship_order (
            merchant_id, drop_ship_order_id, billing_address_id, shipping_address_id, created_at, updated_at, sequence, status,
            client_identifier, content
        )
        select $1[1 + n % 100], md5('drop' || n)::uuid, md5('x')::uuid, md5('y')::uuid, now(), now(), 0, 'accepted', 'DROP-' || n, '{}'
        from generate_series(0, $2 / 100) as n
        returning merchant_id, drop_ship_order_id
    )
    insert into drop_ship_item (merchant_id, drop_ship_order_id, item_id, position, ordered, shipped, cancelled)
    select merchant_id, drop_ship_order_id, md5('i')::uuid, 0, 2, 0, 0 from made";

const EXCEPTIONS: &str = "
    insert into receiving_exception (merchant_id, exception_id, found_at, quantity, exception, asn_number, unit_identifier, line_identifier, sku)
    select $1[1 + n % 100], (left(first_id(now() - n * interval '1 minute')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
        now() - n * interval '1 minute', 1, 'unexpected_unit', 'ASN-' || n, 'LOST-' || n, '', 'SHOE-42'
    from generate_series(0, $2 / 100) as n";

const REFUSED: &str = "
    insert into intake_refusal (merchant_id, refusal_id, refused_at, request_id, order_identifiers, reason, faults, excerpt)
    select $1[1 + n % 100], (left(first_id(now() - n * interval '1 minute')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
        now() - n * interval '1 minute', md5(n::text), array['T-' || n], 'The message has faults.',
        '[{\"field\":\"returns_portal_order.orders[0].currency\",\"code\":\"invalid\",\"message\":\"must be three letters\"}]',
        '[{\"depth\":0,\"text\":\"{\"}]'
    from generate_series(0, $2 / 100) as n";

const IMPORTS: &str = "
    with made as (
        insert into order_import (
            merchant_id, import_id, started_at, updated_at, lines_done, created, updated, unchanged, stale, refused, state
        )
        select $1[1 + n % 100], (left(first_id(now() - n * interval '1 minute')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, now(), now(),
            $2, $2 - 1000, 0, 0, 0, 1000, 'done'
        from generate_series(0, 1999) as n
        returning merchant_id, import_id
    )
    insert into order_import_refusal (merchant_id, import_id, line, order_identifier, faults)
    select merchant_id, import_id, line, 'T-' || line, '[]' from made, generate_series(1, 100) as line";

const WARNED: &str = "
    insert into warning_day (merchant_id, day, kind, count)
    select merchant_id, now()::date - day, 'field_' || kind, 1 + $2 from unnest($1) as merchant_id, generate_series(0, 27) as day,
        generate_series(1, 12) as kind";

const CASES: &str = "
    insert into work_item (merchant_id, item_id, opened_at, kind, subject, reason)
    select $1[1 + n % 100], (left(first_id(now() - n * interval '1 minute')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
        now() - n * interval '1 minute', $3[1 + n % cardinality($3)], 'R-' || n, 'The carrier refused the address.'
    from generate_series(0, $2 / 100) as n";

/// Jobs that have ended.
const JOBS: &str = "
    with job as materialized (
        select n, 1 + n % $3 as m, (left(first_id(now() - n * interval '1 hour')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid as id
        from generate_series(1, 400) as n
    ),
    replayed as (
        insert into replay_job (
            merchant_id, job_id, endpoint_id, created_at, replayed_from, replayed_to, paced_at, ended_at, released, left_out, per_second, created_by
        )
        select $1[m], id, $2[m], now(), now() - interval '3 days', now() - interval '2 days', now(), now(), 500, 3, 10, 'Pat' from job
    )
    insert into retry_job (merchant_id, job_id, endpoint_id, created_at, paced_at, ended_at, total, released, per_second, created_by, reason)
    select $1[m], id, $2[m], now() - n * interval '1 hour', now(), now(), 1000, 1000, 50, 'Pat', '503' from job";

const AUDITS: &str = "
    insert into audit (merchant_id, audit_id, actor, action, detail, done_at)
    select $1[1 + n % 100], (left(first_id(now() - n * interval '1 minute')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'Pat',
        'endpoint.set', 'rma', now() - n * interval '1 minute'
    from generate_series(1, $2 / 20) as n";

/// Sets up the systems that refuse messages. The first merchant gets an endpoint for every interface.
async fn set_refusing(app: &App, stage: &Stage, systems: &Merchant) -> anyhow::Result<Vec<Uuid>> {
    systems.answer("/refusing", Answer::status(503));
    for (number, merchant) in stage.merchants.iter().take(REFUSING).copied().enumerate() {
        for interface in Interface::ALL.into_iter().filter(|one| *one == FAILING || number == 0 && *one != Interface::Rma) {
            let url = systems.url(if interface == FAILING { "/refusing" } else { interface.path() });
            let change = EndpointChange { url: Some(url), ..EndpointChange::default() };
            set_endpoint(app, "proof", MerchantId(merchant), interface, change).await?;
        }
    }
    let mut connection = stage.connect().await?;
    let mut refusing = Vec::with_capacity(REFUSING);
    for merchant in stage.merchants.iter().take(REFUSING) {
        let endpoint: Option<Uuid> = sqlx::query_scalar("select endpoint_id from endpoint where merchant_id = $1 and interface = $2")
            .bind(merchant)
            .bind(FAILING.as_str())
            .fetch_optional(&mut connection)
            .await?;
        refusing.push(endpoint.context("the endpoint is not there")?);
    }
    Ok(refusing)
}

/// Stores everything. `endpoints` are those of all merchants that take messages.
pub(super) async fn store(app: &App, stage: &Stage, systems: &Merchant, endpoints: &[Uuid], size: Size) -> anyhow::Result<()> {
    let refusing = set_refusing(app, stage, systems).await?;
    let (orders, messages, failures) = (i64::try_from(size.orders)?, i64::try_from(size.messages)?, i64::try_from(size.failures)?);
    let mut connection = stage.connect().await?;
    sqlx::raw_sql("select make_partitions(now() - interval '28 days', 45)").execute(&mut connection).await?;
    sqlx::query(MERCHANTS).bind(&stage.merchants).execute(&mut connection).await?;
    // Two at a time: a machine has at least two cores.
    let work = async {
        preload(stage, size.orders).await?;
        let mut connection = stage.connect().await?;
        let fingerprint = app.fingerprints.email(SHOPPER);
        sqlx::query(SHOPPERS_ORDERS).bind(&fingerprint[..]).bind(&stage.merchants).execute(&mut connection).await?;
        for statement in
            [RETURNS, ITEMS, PARCELS, RECEIPTS, ASNS, LARGE_ASN, SHIPMENTS, DROP_SHIPS, EXCEPTIONS, REFUSED, IMPORTS, WARNED, AUDITS]
        {
            sqlx::query(statement).bind(&stage.merchants).bind(orders).execute(&mut connection).await?;
        }
        let kinds: Vec<&str> = domain::returns::work::WorkKind::ALL.iter().map(|kind| kind.as_str()).collect();
        sqlx::query(CASES).bind(&stage.merchants).bind(orders).bind(kinds).execute(&mut connection).await?;
        sqlx::query(MESSAGES).bind(&stage.merchants).bind(messages).execute(&mut connection).await?;
        anyhow::Ok(())
    };
    let calls = async {
        sqlx::query(ATTEMPTS).bind(&stage.merchants).bind(messages).bind(endpoints).execute(&mut connection).await?;
        for statement in [CALLS, DELIVERED] {
            sqlx::query(statement).bind(FAILING.as_str()).execute(&mut connection).await?;
        }
        anyhow::Ok(())
    };
    tokio::try_join!(work, calls)?;
    let count = i64::try_from(REFUSING)?;
    for statement in [FAILURES, WAITING] {
        let query = sqlx::query(statement).bind(&stage.merchants).bind(&refusing).bind(failures).bind(count).bind(FAILING.as_str());
        query.execute(&mut connection).await?;
    }
    for statement in [REPORTED, JOBS] {
        sqlx::query(statement).bind(&stage.merchants).bind(&refusing).bind(i32::try_from(count)?).execute(&mut connection).await?;
    }
    sqlx::raw_sql(COUNTERS).execute(&mut connection).await?;
    sqlx::raw_sql(NOTES).execute(&mut connection).await?;
    for statement in ["vacuum analyze", "checkpoint"] {
        sqlx::raw_sql(statement).execute(&mut connection).await?;
    }
    Ok(())
}
