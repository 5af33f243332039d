//! Every statement stays within one merchant, and every key of a merchant's table starts with the merchant. So merchants can be
//! spread over the cells of a cluster, and the same SQL runs there and on a single PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test unwraps freely and talks to the database directly"
)]

mod database;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

/// Tables that belong to no merchant, or are small and shared.
const SHARED: [&str; 25] = [
    "_sqlx_migrations",
    "cell",
    "credential",
    "deliverer",
    "delivery_bucket",
    "directory",
    "home_audit",
    "home_audit_head",
    "installation",
    "installation_key",
    "merchant",
    "merchant_cell",
    "node_pulse",
    "operator",
    "operator_device",
    "operator_invitation",
    "operator_limit",
    "operator_recovery_code",
    "operator_request",
    "operator_session",
    "operator_token",
    "portal_host",
    "rate_count",
    "report_total",
    "sign_in_trouble",
];

/// Statements that search the data of all merchants, and the table they search. Their other tables are bound to the merchant
/// by the join.
const ACROSS: [(&str, &str); 88] = [
    // Joined by their merchants, in a transaction that looks everything up by indexes.
    ("for update of rma skip locked", "rma"),
    ("for update of stored skip locked", "customer_order"),
    ("-- Returns of several merchants, each by its key.", "endpoint"),
    ("-- Returns of several merchants, each by its key.", "moved_merchant"),
    ("-- Orders, each with its merchant.", "endpoint"),
    ("-- Orders, each with its merchant.", "exchange_order"),
    ("-- Orders, each with its merchant.", "carrier_account"),
    ("-- Orders, each with its merchant.", "unit_claim"),
    ("-- Orders, each with its merchant.", "refund_line"),
    ("-- Policies, each of its merchant.", "return_policy"),
    ("-- Across merchants: what has to be sealed anew.", "endpoint"),
    ("-- Across merchants: what has to be sealed anew.", "carrier_account"),
    ("-- Across merchants: what has to be sealed anew.", "merchant_key"),
    ("-- Across merchants: what a key has sealed.", "endpoint"),
    ("-- Across merchants: what a key has sealed.", "carrier_account"),
    ("-- Across merchants: what a key has sealed.", "merchant_key"),
    ("-- Across merchants: what a key has suppressed.", "suppression"),
    ("-- Across merchants: the progress of new fingerprints.", "fingerprint_progress"),
    ("-- Over all merchants, by the index of each status.", "rma"),
    ("-- Across merchants: returns by identifier and by tracking number.", "rma"),
    ("-- Across merchants: returns by identifier and by tracking number.", "parcel"),
    ("-- Across merchants: units by identifier.", "receipt"),
    ("-- Across merchants: ASNs by number.", "inbound_asn"),
    ("-- Across merchants: ASNs by number.", "outbound_shipment"),
    ("-- Across merchants: a probe of the index for each endpoint.", "delivery"),
    ("-- Across merchants: feeds that are not live.", "feed_counter"),
    ("-- Across merchants: messages that are not numbered.", "message"),
    ("-- Across merchants: the audit trail by time.", "audit"),
    // Nothing else knows a merchant that was deleted, and its audit is kept for 7 years.
    ("-- Across merchants: the chains of those that were deleted.", "audit_head"),
    ("-- Across merchants: orders by shopper.", "customer_order"),
    ("-- Over all merchants; what follows is bound to each.", "endpoint_notice"),
    ("-- Over all merchants; what follows is bound to each.", "carrier_account"),
    ("select distinct day from report_day", "report_day"),
    ("where report_day.day = $1", "report_day"),
    ("where refund_due_at <= $1", "rma"),
    ("kind = $1 and closed_at is null", "work_item"),
    ("where resolved_at is null order by exception_id", "receiving_exception"),
    ("where resolved_at is null and owner = $1", "receiving_exception"),
    ("where resolved_at is null and exception_id > $1", "receiving_exception"),
    ("where resolved_at is null and owner = $3 and exception_id > $1", "receiving_exception"),
    ("where resolved_at is not null and exception_id < $1", "receiving_exception"),
    ("select * from inbound_asn where (inbound_asn.state", "inbound_asn"),
    ("select * from outbound_shipment where (outbound_shipment.state", "outbound_shipment"),
    ("select * from drop_ship_order where (drop_ship_order.status", "drop_ship_order"),
    ("select * from rma where rma.expected", "rma"),
    ("select * from intake_refusal where refusal_id >= $1", "intake_refusal"),
    ("select * from order_import where import_id >= $1", "order_import"),
    ("where warning_day.day = $1", "warning_day"),
    ("from warning_day where day <= $1", "warning_day"),
    ("from exception_note where made_at <= $1", "exception_note"),
    ("-- Across merchants: a probe of the index for each group.", "failure"),
    ("-- Across merchants: by the indexes of running and of ended jobs.", "retry_job"),
    ("from withdrawal_link where sent_at <= $1", "withdrawal_link"),
    ("from withdrawal_draft where changed_at <= $1", "withdrawal_draft"),
    ("from return_link where sent_at <= $1", "return_link"),
    ("from portal_link where sent_at <= $1", "portal_link"),
    ("from portal_session where seen_at <= $1", "portal_session"),
    ("from return_draft where changed_at <= $1", "return_draft"),
    ("from portal_miss where expires_at <= $1", "portal_miss"),
    ("from rma where wakes_at <= $1", "rma"),
    ("from carrier_event where received_at <= $1", "carrier_event"),
    ("from carrier_webhook where received_at < $1", "carrier_webhook"),
    ("from work_item where closed_at < $1", "work_item"),
    ("where listed_from <= $1", "exchange_order"),
    ("from unsent_message where message_id < $1", "unsent_message"),
    ("from intake_refusal where refused_at <= $1", "intake_refusal"),
    ("from order_import where updated_at <= $1", "order_import"),
    ("from audit where done_at <= $1", "audit"),
    ("from failure where ended_at is null and state in", "failure"),
    ("from failure where ended_at <= $1", "failure"),
    ("from retry_job where ended_at <= $1", "retry_job"),
    ("from replay_job where ended_at <= $1", "replay_job"),
    ("from label where bought_at <= $1", "label"),
    ("from photo where fetched_at <= $1", "photo"),
    ("(select from delivery limit 10000)", "delivery"),
    ("from endpoint\n        cross join lateral", "endpoint"),
    ("where endpoint.bucket = $1", "endpoint"),
    ("from delivery where delivery.discard offset 0", "delivery"),
    ("from delivery where delivery.discard offset 0", "endpoint"),
    ("as wanted (merchant_id, endpoint_id, since, most)", "endpoint"),
    (") as past_due", "endpoint"),
    (") as open_failures", "endpoint"),
    ("join delivery_bucket as bucket", "endpoint"),
    (") as newest on true", "endpoint"),
    ("where retry_job.ended_at is null and endpoint.bucket", "endpoint"),
    ("where replay_job.ended_at is null and endpoint.bucket", "endpoint"),
    ("where replay_job.ended_at is null and endpoint.bucket", "replay_job"),
    ("where retry_job.ended_at is null and endpoint.bucket", "retry_job"),
];

/// A connection to a database for one test.
async fn database(of: &str) -> PgConnection {
    database::create(of).await.connect().await.unwrap()
}

/// The statements of the store, as recorded when they were checked.
fn statements() -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    let files = std::fs::read_dir(dir).expect("run `make gen`").map(|file| file.unwrap().path());
    let statements: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
        .map(|file| serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap()).unwrap()["query"].as_str().unwrap().to_owned())
        .collect();
    assert!(statements.len() > 20);
    statements
}

async fn tables(connection: &mut PgConnection) -> BTreeSet<String> {
    let tables: Vec<String> =
        sqlx::query_scalar("select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')")
            .fetch_all(connection)
            .await
            .unwrap();
    tables.into_iter().collect()
}

async fn tenant_tables(connection: &mut PgConnection) -> BTreeSet<String> {
    let mut tables = tables(connection).await;
    SHARED.iter().for_each(|shared| assert!(tables.remove(*shared), "{shared} is no table"));
    tables
}

/// The merchants' tables that `statement` scans without a condition on the merchant, according to the planner.
async fn unbound(connection: &mut PgConnection, tenants: &BTreeSet<String>, statement: &str) -> Vec<String> {
    let mut transaction = connection.begin().await.unwrap();
    // Force plans in which a join shows its condition on the merchant.
    let plainly = "set local plan_cache_mode = force_generic_plan; set local enable_hashjoin = off; set local enable_mergejoin = off; \
        set local enable_seqscan = off; set local enable_bitmapscan = off";
    sqlx::raw_sql(plainly).execute(&mut *transaction).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("prepare looked_at as {statement}"))).execute(&mut *transaction).await.unwrap();
    let parameters: i32 = sqlx::query_scalar("select cardinality(parameter_types) from pg_prepared_statements where name = 'looked_at'")
        .fetch_one(&mut *transaction)
        .await
        .unwrap();
    let nulls = vec!["null"; usize::try_from(parameters).unwrap()].join(", ");
    let call = if nulls.is_empty() { "looked_at".to_owned() } else { format!("looked_at ({nulls})") };
    let plan: Value = {
        let row: String = sqlx::raw_sql(AssertSqlSafe(format!("explain (format json, verbose) execute {call}")))
            .fetch_one(&mut *transaction)
            .await
            .map(|row| sqlx::Row::try_get_unchecked::<String, _>(&row, 0).unwrap())
            .unwrap();
        serde_json::from_str(&row).unwrap()
    };
    sqlx::raw_sql("deallocate looked_at").execute(&mut *transaction).await.unwrap();
    transaction.rollback().await.unwrap();
    let mut found = Vec::new();
    look_at(&plan[0]["Plan"], tenants, &mut found);
    found
}

fn look_at(node: &Value, tenants: &BTreeSet<String>, found: &mut Vec<String>) {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    if let Some(table) = node["Relation Name"].as_str().filter(|table| kind.ends_with("Scan") && tenants.contains(*table)) {
        let conditions = ["Index Cond", "Recheck Cond", "Filter"].map(|name| node[name].as_str().unwrap_or_default());
        if !conditions.iter().any(|condition| condition.contains("merchant_id = ")) {
            found.push(table.to_owned());
        }
    }
    node["Plans"].as_array().into_iter().flatten().for_each(|node| look_at(node, tenants, found));
}

#[tokio::test]
async fn every_statement_on_a_merchants_table_binds_the_merchant() {
    let mut connection = database("bound").await;
    let tenants = tenant_tables(&mut connection).await;
    for statement in statements() {
        let mut unbound = unbound(&mut connection, &tenants, &statement).await;
        let across = ACROSS.iter().filter(|(words, _)| statement.contains(words)).map(|(_, table)| *table).collect::<Vec<_>>();
        // A partition counts as its table.
        unbound.retain(|table| !across.iter().any(|of| table == of || table.starts_with(&format!("{of}_20"))));
        assert_eq!(unbound, Vec::<String>::new(), "{statement}");
    }
    // The check finds statements that do not.
    for (statement, table) in [
        ("select snapshot from customer_order where identifier = $1", "customer_order"),
        ("delete from access_token where expires_at < $1", "access_token"),
        (
            "select 1 from refund join refund_line on refund_line.refund_identifier = refund.identifier where refund.merchant_id = $1",
            "refund_line",
        ),
        ("update refund set note = $1 where exists (select from audit where audit.merchant_id = $2)", "refund"),
    ] {
        assert!(unbound(&mut connection, &tenants, statement).await.contains(&table.to_owned()), "{statement}");
    }
}

#[tokio::test]
async fn every_key_of_a_merchants_table_starts_with_the_merchant() {
    let mut connection = database("keys").await;
    let tenants = tenant_tables(&mut connection).await;
    for table in &tenants {
        let (not_null, has_default): (bool, bool) =
            sqlx::query_as("select attnotnull, atthasdef from pg_attribute where attrelid = $1::regclass and attname = 'merchant_id'")
                .bind(table)
                .fetch_optional(&mut connection)
                .await
                .unwrap()
                .unwrap_or_else(|| panic!("{table} has no merchant_id; if it belongs to no merchant, it is SHARED"));
        assert!(not_null && !has_default, "{table}.merchant_id is always given");
        let keys: Vec<(String, String, bool)> = sqlx::query_as(
            "select index.indexrelid::regclass::text, attribute.attname::text, index.indisprimary
             from pg_index index
             join pg_attribute attribute on attribute.attrelid = index.indrelid and attribute.attnum = index.indkey[0]
             where index.indrelid = $1::regclass and index.indisunique",
        )
        .bind(table)
        .fetch_all(&mut connection)
        .await
        .unwrap();
        assert!(keys.iter().any(|(.., primary)| *primary), "{table} has a primary key");
        for (index, first, _) in keys {
            assert_eq!(first, "merchant_id", "{index}");
        }
    }
    let foreign: Vec<(String, String)> = sqlx::query_as(
        "select conname::text, pg_get_constraintdef(oid) from pg_constraint
         where contype = 'f' and not (confrelid::regclass::text = any($1))",
    )
    .bind(SHARED.map(str::to_owned).to_vec())
    .fetch_all(&mut connection)
    .await
    .unwrap();
    assert!(!foreign.is_empty());
    for (name, definition) in foreign {
        assert!(definition.starts_with("FOREIGN KEY (merchant_id, "), "{name}: {definition}");
    }
    let sequences: i64 = sqlx::query_scalar("select count(*) from pg_class where relkind = 'S'").fetch_one(&mut connection).await.unwrap();
    assert_eq!(sequences, 0, "ids are made by the service");
}

#[test]
fn no_write_asks_the_database_for_time_or_chance() {
    let writes = statements().into_iter().filter(|statement| ["insert", "update", "delete"].iter().any(|verb| statement.contains(verb)));
    for statement in writes {
        // Leases go by the database's clock, which all processes share.
        if statement.contains("delivery_bucket") || statement.contains("deliverer") {
            continue;
        }
        for volatile in ["gen_random_uuid", "random()", "clock_timestamp", "now()", "current_timestamp", "nextval", "statement_timestamp"] {
            assert!(!statement.contains(volatile), "{volatile} in {statement}");
        }
    }
}

/// The modules that write the delivery engine's tables, as laid down in docs/adr/0010-one-writer-per-row.md. Flows write
/// through `outbox`, `endpoints`, `retries`, `retry_jobs`, `replays`, `unsent` and `failures`; the owner of a bucket writes through
/// `settlements`, `notices`, `retry_jobs`, `replays` and `endpoints` (a test that succeeded), and is asked to discard messages
/// through `deliveries`. `reports` counts calls
/// to endpoints that are asked for an answer. `erasures` overwrites personal data, see docs/adr/0020-erasing.md. `positions` numbers
/// messages that were written without a position, see docs/adr/0064-positions-without-a-gap.md.
const WRITERS: [(&str, &str, &[&str]); 31] = [
    ("insert into", "message", &["outbox"]),
    ("insert into", "delivery", &["outbox", "replays", "retries", "retry_jobs", "unsent"]),
    ("update", "delivery", &["deliveries", "settlements"]),
    ("delete from", "delivery", &["settlements"]),
    ("insert into", "attempt", &["settlements"]),
    ("insert into", "attempt_hourly", &["reports", "settlements"]),
    ("insert into", "delivered_hourly", &["settlements"]),
    ("insert into", "failure", &["settlements"]),
    ("update", "attempt", &["erasures"]),
    ("update", "failure", &["erasures", "failures", "settlements"]),
    ("insert into", "retry_job", &["retry_jobs"]),
    ("update", "retry_job", &["retry_jobs"]),
    ("insert into", "replay_job", &["replays"]),
    ("update", "replay_job", &["replays"]),
    ("update", "delivery_bucket", &["leases"]),
    ("insert into", "deliverer", &["leases"]),
    ("delete from", "deliverer", &["leases"]),
    ("update", "deliverer", &["backlog"]),
    ("insert into", "endpoint", &["endpoints", "internal_endpoints"]),
    ("update", "endpoint", &["endpoints"]),
    ("insert into", "endpoint_notice", &["notices"]),
    ("update", "endpoint_notice", &["notices"]),
    ("update", "message", &["erasures", "outbox", "positions"]),
    ("insert into", "feed_counter", &["positions"]),
    ("update", "feed_counter", &["outbox", "positions"]),
    ("delete from", "message", &[]),
    // Retention, see docs/retention.md.
    ("delete from", "attempt_hourly", &["reports"]),
    ("delete from", "delivered_hourly", &["reports"]),
    ("delete from", "failure", &["failures"]),
    ("delete from", "retry_job", &["retry_jobs"]),
    ("delete from", "replay_job", &["replays"]),
];

/// The modules of a folder with their source. Submodules count as their parent.
fn modules(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(modules(&path).into_iter().map(|(_, text)| (module.clone(), text)));
        } else {
            found.push((module, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

#[test]
fn every_row_of_the_delivery_engine_has_the_writer_that_the_decision_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let decision = std::fs::read_to_string(root.join("../../docs/adr/0010-one-writer-per-row.md")).unwrap();
    let mut found: BTreeSet<(String, String, String)> = BTreeSet::new();
    let areas = std::fs::read_dir(root.join("src")).unwrap().map(|area| area.unwrap().path()).filter(|area| area.is_dir());
    for (module, text) in areas.flat_map(|area| modules(&area)) {
        for verb in ["insert into", "update", "delete from"] {
            for (at, _) in text.match_indices(verb) {
                let table = text[at + verb.len()..].trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
                if WRITERS.iter().any(|(_, named, _)| *named == table) {
                    found.insert((verb.to_owned(), table.to_owned(), module.clone()));
                }
            }
        }
    }
    let expected = WRITERS
        .iter()
        .flat_map(|(verb, table, modules)| modules.iter().map(|module| ((*verb).to_owned(), (*table).to_owned(), (*module).to_owned())));
    assert_eq!(found, expected.collect());
    assert!(WRITERS.iter().all(|(_, table, _)| decision.contains(&format!("| `{table}` |"))));
    // `deliveries` may only ask to discard.
    let asked = std::fs::read_to_string(root.join("src/messages/deliveries.rs")).unwrap();
    assert_eq!(asked.matches("update delivery set ").count(), asked.matches("update delivery set discard = true").count());
}

/// In a cell, an `insert … select` reports the rows that it selected, also those that `on conflict do nothing` skipped.
#[test]
fn what_an_insert_has_skipped_is_told_by_what_it_returns() {
    let areas = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap().map(|area| area.unwrap().path());
    for (module, text) in areas.filter(|area| area.is_dir()).flat_map(|area| modules(&area)) {
        for (at, _) in text.match_indices(".rows_affected()") {
            let statement = text[..at].rfind("sqlx::query!(").map_or("", |from| &text[from..at]);
            let may_skip = ["insert into", "select", "on conflict"].iter().all(|word| statement.contains(word));
            assert!(!may_skip, "{module} counts the rows of an insert by `rows_affected`; use `returning`: {statement}");
        }
    }
}

/// In a cell, the parts of a statement run one after the other, and foreign keys are checked after each.
#[tokio::test]
async fn a_statement_writes_a_row_before_those_that_refer_to_it() {
    let mut connection = database("referring").await;
    let keys: Vec<(String, String)> = sqlx::query_as(
        "select distinct conrelid::regclass::text, confrelid::regclass::text from pg_constraint where contype = 'f' and conrelid <> confrelid",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let keys: Vec<[String; 2]> = keys.iter().map(|(of, to)| [of, to].map(|table| format!("insert into {table} "))).collect();
    let mut written_together = 0;
    for statement in statements() {
        for [referring, referred] in &keys {
            if let (Some(referring), Some(referred)) = (statement.find(referring), statement.find(referred)) {
                assert!(referred < referring, "{statement}");
                written_together += 1;
            }
        }
    }
    assert!(written_together > 5, "{written_together}");
}

#[test]
fn no_update_takes_an_element_of_a_list_by_a_subscript() {
    // A node of a cluster that passes such an update on crashes (docs/adr/0063-what-a-cell-takes.md).
    let takes = |statement: &&String| statement.contains("update ") && statement.contains(")[");
    let statements = statements();
    assert_eq!(statements.iter().filter(takes).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[tokio::test]
async fn every_table_is_listed_with_the_rule_that_ends_its_rows() {
    let mut connection = database("retention").await;
    let tables: BTreeSet<String> = sqlx::query_scalar(
        "select relname::text from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap()
    .into_iter()
    .collect();
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/retention.md")).unwrap();
    let mut listed = BTreeSet::new();
    for line in document.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 3 && cells.iter().all(|cell| !cell.is_empty()), "{line}");
        assert!(listed.insert(cells[0].trim_matches('`').to_owned()), "{line} is there twice");
    }
    assert_eq!(listed, tables, "docs/retention.md says of every table what ends its rows");
}

/// A list of one order is short, and the plan for it looks cheaper than one for any list; still it must not be planned every time.
#[tokio::test]
async fn orders_are_stored_and_looked_up_by_plans_that_are_kept() {
    let mut connection = database("kept_plans").await;
    let only = |words: &str| {
        let found: Vec<String> = statements().into_iter().filter(|statement| statement.contains(words)).collect();
        assert_eq!(found.len(), 1, "{words}");
        found.concat()
    };
    let merchant = "00000000-0000-0000-0000-000000000001";
    let time = "array[timestamptz '2026-03-01T12:00:00Z']";
    let print = "array['\\x00112233445566778899aabbccddeeff'::bytea]";
    let orders = format!(
        "array['{merchant}'::uuid], array['1'], array['Shipped'], {time}, {time}, {time}, array[sha256('1')], {print}, {print}, \
        array[null::text], array['{{}}'], array[null::timestamptz]"
    );
    let unapplied = format!("'{merchant}', array['1'], {print}, {time}");
    for (words, values) in [("insert into customer_order as stored", orders), ("left join customer_order as stored", unapplied)] {
        let statement = only(words);
        sqlx::raw_sql(AssertSqlSafe(format!("prepare kept as {statement}"))).execute(&mut connection).await.unwrap();
        for _ in 0..8 {
            sqlx::raw_sql(AssertSqlSafe(format!("execute kept ({values})"))).execute(&mut connection).await.unwrap();
        }
        let plans: (i64, i64) = sqlx::query_as("select generic_plans, custom_plans from pg_prepared_statements where name = 'kept'")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(plans, (3, 5), "the first five are always planned: {words}");
        sqlx::raw_sql("deallocate kept").execute(&mut connection).await.unwrap();
    }
}
