//! The cost of listing messages and failures: whatever the filter, a page of a list touches a bounded number of database
//! pages.
//!
//! `MESSAGES` sets the number of messages, each with three attempts: 20,000, or 2 million with `make bench-lists`. The last
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

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Kind};
use sqlx::ConnectOptions as _;
use store::merchants::overview;
use store::messages::failure_groups::{self, Owner};
use store::messages::failure_selection::{self, Selection};
use store::messages::failures::{self, Of};
use store::messages::log::{self, State};
use store::messages::message_pages::{self, Filter, MOST_LISTED};
use store::messages::{attempts, failure_notes, health, late, partitions, recent, retry_jobs, troubles};
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::explained::Explained;

/// The maximum number of database pages that a page of a list may touch.
const MOST_PAGES: u64 = 500;
/// The maximum for counts, which stop at 10,000: each counted row costs its index entry and itself.
const MOST_PAGES_OF_COUNTS: u64 = 100_000;
/// The number of pages read of each list.
const TURNED: usize = 20;
/// The number of days over which the messages are spread.
const DAYS: i32 = 30;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Twenty merchants, each with an endpoint.
const FILL: &str = "
    insert into endpoint (merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url,
        key_id, authentication, secret)
    select id, id, $1 - interval '60 days', $1, 1, 10, 20, number, 'rma', 'https://hooks.example.com/', 'k', '', ''
    from generate_series(1, 20) as number, lateral (select lpad(to_hex(number), 32, '0')::uuid as id) as ids";

const FILL_MERCHANTS: &str = "
    insert into merchant (merchant_id, handle, name, created_at)
    select lpad(to_hex(number), 32, '0')::uuid, 'merchant-' || number, 'A merchant', $1 from generate_series(1, 20) as number";

/// Half of everything belongs to the first merchant. A subject's messages are spread over all days. A tenth has failed, in
/// equal parts open, contacted, resolved and discarded. A twenty-fifth is owed.
const FILL_MESSAGES: &str = "
    with row as (
        select number, case when number % 2 = 0 then 1 else 2 + number / 2 % 19 end as merchant,
            $2 - interval '30 days' + interval '30 days' * (number::float8 / $1) as at
        from generate_series(0, $1 - 1) as number
    ),
    written as materialized (
        select number, at, lpad(to_hex(merchant), 32, '0')::uuid as merchant_id,
            (left(first_id(at)::text, 24) || lpad(to_hex(number), 12, '0'))::uuid as message_id,
            'R-' || number % 1000 as subject, 1 + number / 1000 as sequence,
            case when number % 5000 = 0 then 'rma.resent' else 'rma.created' end as event
        from row
    ),
    failed as (
        insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
        select merchant_id, message_id, merchant_id, sequence, at, 6, 'rma', event, subject,
            case when number % 3 = 0 then '503' else 'timed out' end,
            (array['open', 'contacted', 'resolved', 'discarded'])[1 + number / 20 % 4], repeat('x', 500)
        from written where number % 20 in (4, 5)
    ),
    owed as (
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        select merchant_id, message_id, merchant_id, sequence, $2, 0, 0, false, subject from written where number % 50 in (8, 9)
    ),
    tried as (
        insert into attempt (merchant_id, attempt_id, message_id, endpoint_id, started_at, took_ms, number, status, outcome, answer)
        select merchant_id, (left(first_id(at + attempt * interval '1 second')::text, 24) || lpad(to_hex(number * 4 + attempt), 12, '0'))::uuid,
            message_id, merchant_id, at, 20, attempt, case attempt when 3 then 200 else 503 end, case attempt when 3 then '200' else '503' end,
            repeat('y', 50)::bytea
        from written, generate_series(1, 3) as attempt
    )
    insert into message (merchant_id, message_id, sequence, kind, event, subject, body)
    select merchant_id, message_id, sequence, 'rma', event, subject, repeat('x', 500) from written";

/// The measurements.
struct Ledger {
    explained: Explained,
    pages: usize,
    over: usize,
    most: u64,
    most_of_counts: u64,
}

impl Ledger {
    /// Records the cost of a page of a list.
    fn page(&mut self, what: &str) {
        let touched: u64 = self.explained.take().iter().map(explained::Plan::pages).sum();
        self.pages += 1;
        self.most = self.most.max(touched);
        if touched > MOST_PAGES {
            self.over += 1;
            println!("{what}: {touched} pages");
        }
    }

    /// Records the cost of counting.
    fn counts(&mut self) {
        let touched: u64 = self.explained.take().iter().map(explained::Plan::pages).sum();
        self.most_of_counts = self.most_of_counts.max(touched);
    }
}

fn lists() -> Vec<(&'static str, Filter)> {
    let filter = Filter::default;
    let at = |state| Filter { state: Some(state), ..filter() };
    let of = |subject: &str| Filter { subject: Some(subject.to_owned()), ..filter() };
    vec![
        ("all", filter()),
        ("a subject", of("R-4")),
        ("a subject's failed", Filter { state: Some(State::Failed), ..of("R-4") }),
        ("no subject", of("R-x")),
        ("a rare event", Filter { event: Some("rma.resent".to_owned()), ..filter() }),
        ("no interface", Filter { kind: Some("outbound_asn".to_owned()), ..filter() }),
        ("owed", at(State::Owed)),
        ("failed", at(State::Failed)),
        ("discarded", at(State::Discarded)),
        ("unsent", at(State::Unsent)),
        ("delivered", at(State::Delivered)),
        ("a day", Filter { from: Some(now() - TimeDelta::days(4)), to: Some(now() - TimeDelta::days(3)), ..filter() }),
        ("a day's owed", Filter { from: Some(now() - TimeDelta::days(4)), to: Some(now() - TimeDelta::days(3)), ..at(State::Owed) }),
        ("a subject's day", Filter { from: Some(now() - TimeDelta::days(4)), ..of("R-8") }),
    ]
}

#[tokio::test]
async fn a_page_of_any_list_touches_at_most_500_pages() {
    let count: i32 = std::env::var("MESSAGES").map_or(20_000, |count| count.parse().unwrap());
    let options = database::create("lists").await;
    let mut beside = options.connect().await.unwrap();
    let patience = Duration::from_hours(1);
    let limits = PoolLimits {
        sizes: PoolSizes { flows: 2, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
        acquire: patience,
        statement: patience,
        lock: patience,
        console: 0,
    };
    let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
    partitions::make(&store, now() - TimeDelta::days(i64::from(DAYS)), DAYS + 17).await.unwrap();
    store.close().await;
    sqlx::query(FILL).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_MERCHANTS).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_MESSAGES).bind(count).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::raw_sql("vacuum analyze").execute(&mut beside).await.unwrap();
    explained::switch_on(&mut beside, options.get_database().unwrap()).await;

    let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
    let mut ledger = Ledger { explained: Explained::listen(), pages: 0, over: 0, most: 0, most_of_counts: 0 };
    for merchant in [1_u128, 7] {
        let whose = MerchantId(Uuid::from_u128(merchant));
        for (what, filter) in lists() {
            let mut before = None;
            for _ in 0..TURNED {
                let page = message_pages::list(&store, whose, &filter, before, MOST_LISTED).await.unwrap();
                ledger.page(what);
                assert!(page.messages.iter().all(|listed| filter.state.is_none_or(|state| listed.state == state)), "{what}");
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
        }
        let mut after = (DateTime::UNIX_EPOCH, Uuid::nil());
        for _ in 0..TURNED {
            let entries = failures::list(&store, whose, Kind::Of(Interface::Rma), after, 100).await.unwrap();
            ledger.page("the failure queue");
            let Some(last) = entries.last() else { break };
            after = (last.failed_at, last.message_id);
        }
        let listed = message_pages::list(&store, whose, &Filter::default(), None, 1).await.unwrap();
        ledger.explained.take();
        let message = listed.messages.first().unwrap().id;
        assert!(log::find(&store, whose, message).await.unwrap().is_some());
        assert_eq!(attempts::list(&store, whose, message).await.unwrap().len(), 3);
        ledger.page("a message");
        retry_jobs::list(&store, whose, None, 50).await.unwrap();
        ledger.page("jobs");
        assert!(!failures::groups(&store, whose, Of::Merchant, None).await.unwrap().is_empty());
        ledger.counts();
        assert_eq!(health::endpoints(&store, whose, now()).await.unwrap().len(), 1);
        ledger.counts();
    }
    over_all_merchants(&store, &mut ledger).await;
    println!(
        r#"{{"bench":"lists","messages":{count},"attempts":{},"pages":{},"pages_over_500":{},"most_pages":{},"most_pages_of_counts":{}}}"#,
        i64::from(count) * 3,
        ledger.pages,
        ledger.over,
        ledger.most,
        ledger.most_of_counts,
    );
    assert_eq!(ledger.over, 0);
    assert!(ledger.most_of_counts <= MOST_PAGES_OF_COUNTS, "{}", ledger.most_of_counts);
}

/// Reads the pages that search the data of all merchants, as the operator's console does.
async fn over_all_merchants(store: &Store, ledger: &mut Ledger) {
    for owner in [None, Some(Owner::Nobody), Some(Owner::Person("Sam".to_owned()))] {
        let filter = failure_groups::Filter { owner, ..failure_groups::Filter::default() };
        let mut after = None;
        for _ in 0..TURNED {
            let page = failure_groups::list(store, &filter, after.as_ref()).await.unwrap();
            ledger.page("groups of failures");
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    let page = failure_groups::list(store, &failure_groups::Filter::default(), None).await.unwrap();
    ledger.explained.take();
    let key = &page.groups.first().unwrap().key;
    let entries =
        failure_selection::list(store, key.merchant, (key.endpoint, &key.reason), (DateTime::UNIX_EPOCH, Uuid::nil()), 50).await.unwrap();
    let ids: Vec<Uuid> = entries.iter().map(|entry| entry.message_id).collect();
    assert!(failure_notes::list(store, key.merchant, &ids).await.unwrap().is_empty());
    ledger.page("a group of failures");
    let group = Selection::Group { endpoint: key.endpoint, reason: key.reason.clone(), since: None, until: now() };
    assert!(failure_selection::count(store, key.merchant, &group).await.unwrap().open > 0);
    ledger.page("a preview");
    let merchants: Vec<MerchantId> = recent::merchants(store, None, 50).await.unwrap().into_iter().map(|account| account.id).collect();
    ledger.explained.take();
    let mut before = None;
    for _ in 0..TURNED {
        let (messages, next) = recent::newest(store, &merchants, (None, None), before, 25).await.unwrap();
        ledger.page("messages of every merchant");
        assert_eq!(messages.len(), 25);
        before = next;
    }
    let listed = message_pages::list(store, key.merchant, &Filter::default(), None, 1).await.unwrap();
    ledger.explained.take();
    let message = listed.messages.first().unwrap();
    assert!(recent::neighbours(store, key.merchant, (&message.kind, &message.subject), message.id).await.unwrap().0.is_some());
    ledger.page("neighbours");
    retry_jobs::newest(store, 25).await.unwrap();
    ledger.page("jobs of every merchant");
    // All that is owed is late an hour later.
    let later = now() + TimeDelta::hours(1);
    let mut after = (EndpointId(Uuid::nil()), DateTime::UNIX_EPOCH, Uuid::nil());
    for turn in 0..TURNED {
        let examined = late::endpoints(store, after.0, later).await.unwrap();
        let messages = late::list(store, &examined.endpoints, later, after, 25).await.unwrap();
        ledger.page("late messages");
        assert_eq!(messages.len(), 25, "page {turn}");
        after = messages.last().unwrap().place();
    }
    let examined = late::endpoints(store, EndpointId(Uuid::nil()), later).await.unwrap();
    assert_eq!((examined.endpoints.len(), examined.more_after), (20, None));
    assert_eq!(late::count(store, &examined.endpoints, later, 100).await.unwrap(), 100);
    ledger.page("the number of late messages");
    let first = late::endpoints_of(store, MerchantId(Uuid::from_u128(1)), EndpointId(Uuid::nil()), later).await.unwrap();
    assert_eq!(late::list(store, &first.endpoints, later, (EndpointId(Uuid::nil()), now(), Uuid::nil()), 25).await.unwrap().len(), 25);
    ledger.page("late messages of a merchant");
    for state in [None, Some("failing".to_owned())] {
        overview::list(store, &overview::Filter { words: None, state }, None, later).await.unwrap();
        ledger.page("merchants");
    }
    troubles::failing(store, false, 5, 100).await.unwrap();
    ledger.page("failing endpoints");
}
