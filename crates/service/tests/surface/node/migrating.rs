//! Migrations beside running traffic.

use std::sync::Arc;
use std::time::{Duration, Instant};

use backhaul::platform::keys::bearer;
use domain::id::MerchantId;
use domain::node::mode::Mode;
use secrecy::ExposeSecret as _;
use store::node::{installation, migrations};

use crate::binary::{command, err, out};
use crate::world::{Database, Merchant, World, beginning, message, order};

/// The last migration of the version before.
const EARLIER: i64 = 27;

async fn database_of_the_earlier_version() -> Arc<Database> {
    let database = Database::create_empty().await;
    installation::migrate_to(&database.url, Mode::Sandbox, beginning(), Some(EARLIER)).await.unwrap();
    Arc::new(database)
}

/// A merchant with a token, as the earlier version wrote them.
async fn merchant_of_the_earlier_version(world: &World) -> Merchant<'_> {
    let (id, now) = (MerchantId(world.app.mint()), world.app.now());
    let token = bearer::new_token(id, &world.app.entropy, &world.app.fingerprints).expose_secret().to_owned();
    let mut connection = world.database.connect().await;
    for statement in [
        "insert into merchant (merchant_id, handle, name, created_at) select $1, 'acme', 'A merchant', $2 where length($3) > 0",
        "insert into credential (client_id, merchant_id, secret_hash, scopes, label, issued_at) values ('bhc_earlier', $1, $3, 'orders', '', $2)",
        "insert into access_token (merchant_id, token_hash, client_id, scopes, issued_at, expires_at)
        values ($1, $3, 'bhc_earlier', 'orders', $2, $2 + interval '25 hours')",
    ] {
        sqlx::query(statement).bind(id.0).bind(now).bind(bearer::hash(&token)).execute(&mut connection).await.unwrap();
    }
    Merchant { world, id, client_id: String::new(), client_secret: String::new(), token }
}

/// Stores an order as the earlier version did.
async fn stores(world: &World, merchant: MerchantId, identifier: &str) {
    let upsert = "insert into customer_order as stored
            (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, snapshot)
        values ($1, $2, 'Shipped', $3, $3, $3, 1, $4, $5)
        on conflict (merchant_id, identifier) do update set revision = stored.revision + 1";
    let query = sqlx::query(upsert).bind(merchant.0).bind(identifier).bind(world.app.now()).bind([0_u8; 32].as_slice());
    query.bind(order(identifier).to_string()).execute(&mut world.database.connect().await).await.unwrap();
}

#[tokio::test]
async fn a_database_of_something_else_is_not_written_to() {
    let database = Database::create_empty().await;
    sqlx::raw_sql("create table theirs ()").execute(&mut database.connect().await).await.unwrap();
    let refused = err(&command(&database).arg("migrate").output().unwrap());
    assert!(refused.contains("has 1 table of another program") && refused.contains("use an empty database"), "{refused}");
    let tables = "select count(*)::text from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'";
    assert_eq!(database.texts(tables).await, ["1"], "nothing was written");
    sqlx::raw_sql("drop table theirs").execute(&mut database.connect().await).await.unwrap();
    out(&command(&database).arg("migrate").output().unwrap());
}

#[tokio::test]
async fn a_migration_that_waits_for_a_long_transaction_holds_up_nobody_else() {
    let world = World::on_database(database_of_the_earlier_version().await).await;
    let merchant = merchant_of_the_earlier_version(&world).await;
    let mut report = world.database.connect().await;
    sqlx::raw_sql("begin; select count(*) from customer_order; select count(*) from failure").execute(&mut report).await.unwrap();
    let migrate = command(&world.database).arg("migrate").stdout(std::process::Stdio::piped()).spawn().unwrap();
    // The migration tries for its locks at least twice during this.
    let began = Instant::now();
    for number in 0.. {
        let sent = Instant::now();
        stores(&world, merchant.id, &format!("A-{number}")).await;
        assert!(sent.elapsed() < Duration::from_secs(1), "the order waited {:?}", sent.elapsed());
        if began.elapsed() > Duration::from_millis(2500) {
            break;
        }
    }
    let waiting = "select count(*)::text from pg_indexes where indexname = 'customer_order_by_last_change'";
    assert_eq!(world.database.texts(waiting).await, ["0"], "it has not got the table yet");
    sqlx::raw_sql("commit").execute(&mut report).await.unwrap();
    let migrated = out(&tokio::task::spawn_blocking(|| migrate.wait_with_output().unwrap()).await.unwrap());
    assert!(migrated.contains("migrations applied; the schema is up to date"), "{migrated}");
    assert_eq!(merchant.publishes(&message([order("A-0")])).await.status, 200);
}

#[tokio::test]
async fn an_index_whose_building_broke_off_is_built_again() {
    let database = database_of_the_earlier_version().await;
    let mut connection = database.connect().await;
    let broken = "create index retry_job_by_end on retry_job (ended_at);
        update pg_index set indisvalid = false where indexrelid = 'retry_job_by_end'::regclass";
    sqlx::raw_sql(broken).execute(&mut connection).await.unwrap();
    installation::migrate(&database.url, Mode::Sandbox, beginning()).await.unwrap();
    let invalid = "select indexrelid::regclass::text from pg_index where not indisvalid";
    assert_eq!(database.texts(invalid).await, Vec::<String>::new());
    let partial = "select indexdef from pg_indexes where indexname = 'retry_job_by_end' and indexdef like '%WHERE%'";
    assert_eq!(database.texts(partial).await.len(), 1, "it is the one of the migration");
}

#[tokio::test]
async fn an_index_on_a_table_with_partitions_is_built_one_by_one_and_new_partitions_have_it() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let index = "create index concurrently if not exists message_by_event on message (merchant_id, event) where internal";
    let mut backup = world.database.connect().await;
    for _repeat in 0..2 {
        migrations::build_indexes(&world.database.url, index).await.unwrap();
    }
    sqlx::raw_sql("begin; select count(*) from message").execute(&mut backup).await.unwrap();
    store::messages::partitions::make(world.app.cell(), beginning() + chrono::TimeDelta::days(60), 1).await.unwrap();
    sqlx::raw_sql("commit").execute(&mut backup).await.unwrap();
    let valid = "select indisvalid::text from pg_index where indexrelid = 'message_by_event'::regclass";
    assert_eq!(world.database.texts(valid).await, ["true"]);
    let attached = "select (count(*) = (select count(*) from pg_inherits where inhparent = 'message'::regclass))::text
        from pg_inherits where inhparent = 'message_by_event'::regclass";
    assert_eq!(world.database.texts(attached).await, ["true"], "every partition has it");
    receiver.is_owed("R-1", 1).await;
}
