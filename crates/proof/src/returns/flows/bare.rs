//! The baseline for flows: pgbench with prepared statements that lock a return, update it, and write a message with its delivery.

use std::process::Command;

use anyhow::{Context as _, bail};

use super::size::{Plan, UNITS};
use crate::messages::owing::{self, Target};
use crate::meter;
use crate::stage::Stage;

/// Returns of the baseline, each of [`UNITS`] units, under names that no flow gives.
const RETURNS: &str = "
    with started as materialized (select n, $1[1 + n % cardinality($1)] as merchant_id, md5('bare' || n)::uuid as rma_id from generate_series(0, $2 - 1) as n),
    returned as (
        insert into rma (
            merchant_id, rma_id, created_at, updated_at, sequence, shipping_cost_cents, gift, receiving_closed, reminded, method, status,
            identifier, order_identifier
        )
        select merchant_id, rma_id, now(), now(), 1, 0, false, false, false, 'mail-back', 'CREATED', 'BARE-' || n, 'BARE-' || n from started
        on conflict do nothing
    )
    insert into rma_item (
        merchant_id, rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents, position,
        unit, exchange_owed, refund_type, order_line, sku, reason, parcel, tracking_number
    )
    select merchant_id, rma_id, 5000, 0, 400, 5400, 0, 0, 5400, position, position + 1, false, 'REFUND', 'L1', 'SHOE-42', 'NOT_GIVEN',
        'PRE_TRANSIT', 'BARE-' || n
    from started, generate_series(0, $3 - 1) as position
    on conflict do nothing";

/// The script of pgbench. The ids of messages are version 7 with the current time, so that they fall into today's partition.
fn script(targets: &[Target], returns: usize) -> String {
    let list = |ids: Vec<String>| format!("('{{{}}}'::uuid[])[1 + :n::integer % {}]", ids.join(","), targets.len());
    let merchant = list(targets.iter().map(|target| target.merchant.0.to_string()).collect());
    let endpoint = list(targets.iter().map(|target| target.endpoint.0.to_string()).collect());
    let body = owing::body("BARE", 1).replace('\'', "''");
    let message = "(:stamp::text || '7' || lpad(to_hex(:a::bigint), 3, '0') || '8' || lpad(to_hex(:b::bigint), 15, '0'))::uuid";
    format!(
        "\\set n random(0, {last})
\\set a random(0, 4095)
\\set b random(0, 1152921504606846975)
begin;
select rma_id, sequence, status, updated_at, lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') as stamp from rma where merchant_id = {merchant} and identifier = 'BARE-' || :n::integer for update \\gset
update rma set sequence = sequence + 1, updated_at = now() where merchant_id = {merchant} and rma_id = :rma_id::uuid;
insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane) values ({merchant}, {message}, {endpoint}, :sequence::bigint + 1, now(), 0, 0, false, 'BARE-' || :n::integer);
update feed_counter set last = last + 1, last_message = {message} where merchant_id = {merchant} returning last as place \\gset
insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position) values ({merchant}, {message}, pg_current_xact_id(), 0, :sequence::bigint + 1, 'rma', 'rma.tracking_updated', 'BARE-' || :n::integer, '{body}', :place::bigint);
commit;
",
        last = returns - 1,
    )
}

/// Measures changed returns per second, and the CPU seconds of the database for 1,000 of them.
pub(super) async fn rate(stage: &Stage, targets: &[Target], plan: &Plan) -> anyhow::Result<(f64, f64)> {
    let mut connection = stage.connect().await?;
    let merchants: Vec<_> = targets.iter().map(|target| target.merchant.0).collect();
    sqlx::query(RETURNS).bind(&merchants).bind(i32::try_from(plan.returns)?).bind(i32::try_from(UNITS)?).execute(&mut connection).await?;
    sqlx::raw_sql("vacuum analyze rma, rma_item").execute(&mut connection).await?;
    sqlx::raw_sql("checkpoint").execute(&mut connection).await?;
    let file = std::env::temp_dir().join(format!("backhaul-pgbench-flows-{}.sql", std::process::id()));
    std::fs::write(&file, script(targets, plan.returns))?;
    let database = stage.cluster()?.pid().unwrap_or_default();
    let before = meter::cpu_of_family(database);
    let output = Command::new("pgbench")
        .args(["-n", "-M", "prepared", "-j", "2", "-c", &plan.callers.to_string(), "-T", &plan.seconds.to_string(), "-f"])
        .arg(&file)
        .arg(stage.cluster()?.url("postgres"))
        .output()
        .context("pgbench could not be started")?;
    let spent = meter::cpu_of_family(database) - before;
    std::fs::remove_file(&file)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.split([' ', '/']).next()?.parse::<f64>().ok());
    let done = figure("number of transactions actually processed: ");
    let (Some(per_s), Some(done)) = (figure("tps = ").filter(|_| output.status.success()), done) else {
        bail!("pgbench failed: {text}{}", String::from_utf8_lossy(&output.stderr));
    };
    Ok((per_s, spent / done * 1_000.0))
}
