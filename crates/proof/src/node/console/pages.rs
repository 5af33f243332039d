//! The pages that are opened: every route of the console that shows one to people who are signed in, and the lists with filters.

use anyhow::{Context as _, bail};
use backhaul::http::console::guards;
use chrono::{SecondsFormat, TimeDelta, Utc};
use domain::messages::message::Interface;
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::history::{FAILING, SHOPPER};
use super::person::{Person, encoded};
use crate::stage::Stage;

/// The merchant with the longest history, and one that is not live yet.
const BUSY: &str = "merchant-0";
const UNFINISHED: &str = "merchant-99";

/// The things whose pages are opened.
struct Samples {
    operator: Uuid,
    request: String,
    client_id: String,
    /// A message in the failure queue, one that was delivered and one that is owed.
    failed: Uuid,
    delivered: Uuid,
    owed: Uuid,
    /// The address of the result of a test message.
    test: String,
    retry_job: Uuid,
    replay_job: Uuid,
    /// The address of a case.
    case: String,
    exception: Uuid,
    refused: Uuid,
    import: Uuid,
    /// The address of the orders of a shopper.
    shoppers_orders: String,
    rma: String,
    order: String,
    /// The query that names the large group of failures, and a small one.
    large_group: String,
    small_group: String,
}

/// The one row of a statement.
async fn one<T>(connection: &mut PgConnection, statement: &str) -> anyhow::Result<T>
where
    T: for<'r> sqlx::FromRow<'r, PgRow> + Send + Unpin,
{
    let row = sqlx::query_as(sqlx::AssertSqlSafe(statement.to_owned())).fetch_optional(connection).await?;
    row.with_context(|| format!("nothing was found by {statement}"))
}

/// The query of a group of failures, with the condition by which one of its messages is found.
async fn group(connection: &mut PgConnection, condition: &str) -> anyhow::Result<(String, Uuid)> {
    let statement = format!(
        "select merchant.handle, failure.endpoint_id, failure.reason, failure.message_id
         from failure join merchant using (merchant_id) where {condition} order by failure.failed_at limit 1"
    );
    let (handle, endpoint, reason, message): (String, Uuid, String, Uuid) = one(connection, &statement).await?;
    Ok((format!("merchant={handle}&endpoint={endpoint}&reason={}", encoded(&reason)), message))
}

/// Starts a retry and a replay that wait until tomorrow, so that nothing changes while they are looked at.
async fn start_jobs(connection: &mut PgConnection) -> anyhow::Result<(Uuid, Uuid)> {
    let of = |interface: Interface| {
        format!(
            "from endpoint join merchant using (merchant_id)
             where merchant.handle = '{BUSY}' and endpoint.interface = '{}' returning job_id",
            interface.as_str()
        )
    };
    let retry = format!(
        "insert into retry_job (merchant_id, job_id, endpoint_id, created_at, paced_at, total, released, per_second, created_by, reason)
         select merchant_id, gen_random_uuid(), endpoint_id, now(), now() + interval '1 day', 1000, 0, 1, 'Pat', '503' {}",
        of(FAILING)
    );
    let replay = format!(
        "insert into replay_job (
             merchant_id, job_id, endpoint_id, created_at, replayed_from, replayed_to, paced_at, released, left_out, per_second, created_by
         )
         select merchant_id, gen_random_uuid(), endpoint_id, now(), now() - interval '3 days', now() - interval '2 days',
             now() + interval '1 day', 0, 0, 1, 'Pat' {}",
        of(Interface::Rma)
    );
    let (retry,): (Uuid,) = one(connection, &retry).await?;
    let (replay,): (Uuid,) = one(connection, &replay).await?;
    Ok((retry, replay))
}

impl Samples {
    async fn find(stage: &Stage, person: &mut Person) -> anyhow::Result<Self> {
        let mut connection = stage.connect().await?;
        let (large_group, failed) = group(&mut connection, &format!("merchant.handle = '{BUSY}' and failure.reason = '503'")).await?;
        let (small_group, _) = group(&mut connection, "failure.reason = '404'").await?;
        let (retry_job, replay_job) = start_jobs(&mut connection).await?;
        let (operator,): (Uuid,) = one(&mut connection, "select operator_id from operator limit 1").await?;
        let of_busy = format!("merchant_id = (select merchant_id from merchant where handle = '{BUSY}')");
        let (client_id,): (String,) =
            one(&mut connection, &format!("select client_id from credential where {of_busy} and revoked_at is null limit 1")).await?;
        let (delivered,): (Uuid,) = one(
            &mut connection,
            &format!("select message_id from message where {of_busy} and kind = 'rma' and message_id > first_id(now() - interval '9 days') order by message_id limit 1"),
        )
        .await?;
        let (owed,): (Uuid,) = one(&mut connection, &format!("select message_id from delivery where {of_busy} limit 1")).await?;
        let (handle, case): (String, Uuid) =
            one(&mut connection, "select handle, item_id from work_item join merchant using (merchant_id) limit 1").await?;
        let (exception,): (Uuid,) =
            one(&mut connection, &format!("select exception_id from receiving_exception where {of_busy} limit 1")).await?;
        let (refused,): (Uuid,) = one(&mut connection, &format!("select refusal_id from intake_refusal where {of_busy} limit 1")).await?;
        let (import,): (Uuid,) = one(&mut connection, &format!("select import_id from order_import where {of_busy} limit 1")).await?;
        let of_rma =
            format!("select identifier, order_identifier from rma where {of_busy} and refund_due_at is null order by created_at limit 1");
        let (rma, order): (String, String) = one(&mut connection, &of_rma).await?;

        let mut fields: Vec<(&str, &str)> = large_group.split('&').filter_map(|field| field.split_once('=')).collect();
        fields.push(("why", "Their system was replaced."));
        let request = person.is_sent("/failures/discard/request", &fields, "/requests/").await?;
        let test = format!("/merchants/{BUSY}/endpoints/rma/test");
        let test = person.is_sent(&test, &[], &test).await?;
        let shoppers_orders = person.is_sent("/search", &[("q", SHOPPER)], "/search/by-email/").await?;
        let case = format!("/cases/{handle}/{case}");
        Ok(Self {
            operator,
            request,
            client_id,
            failed,
            delivered,
            owed,
            test,
            retry_job,
            replay_job,
            case,
            exception,
            refused,
            import,
            shoppers_orders,
            rma,
            order,
            large_group,
            small_group,
        })
    }

    /// The address of a page of `route`; `None` if a part of it is not known here.
    fn address(&self, route: &str) -> Option<String> {
        let address = match route {
            "/operators/{id}" => format!("/operators/{}", self.operator),
            "/requests/{id}" => self.request.clone(),
            "/cases/{handle}/{case}" => self.case.clone(),
            "/search" => format!("/search?q={}", self.rma),
            // A file of all merchants is as long as it is.
            "/audit.ndjson" => format!("{route}?merchant={BUSY}"),
            "/search/by-email/{sealed}" => self.shoppers_orders.clone(),
            "/merchants/{handle}/messages/{id}" | "/merchants/{handle}/messages/{id}/retry" => {
                route.replace("{id}", &self.failed.to_string())
            }
            "/merchants/{handle}/live" => route.replace("{handle}", UNFINISHED),
            "/failures/group" | "/failures/group.csv" | "/failures/work" | "/failures/retry" | "/failures/discard" => {
                format!("{route}?{}", self.large_group)
            }
            "/merchants/{handle}/endpoints/{interface}/test/{message}" => self.test.clone(),
            "/merchants/{handle}/orders/{id}" => route.replace("{id}", &self.order),
            "/merchants/{handle}/asns/{number}" => route.replace("{number}", "ASN-0"),
            "/merchants/{handle}/shipments/{number}" => route.replace("{number}", "OUT-0"),
            "/merchants/{handle}/refused/{id}" => route.replace("{id}", &self.refused.to_string()),
            "/merchants/{handle}/imports/{id}" => route.replace("{id}", &self.import.to_string()),
            _ if route.contains("/exceptions/{id}") => route.replace("{id}", &self.exception.to_string()),
            _ if route.contains("/replay/{job}") => route.replace("{job}", &self.replay_job.to_string()),
            _ if route.contains("/jobs/{job}") => route.replace("{job}", &self.retry_job.to_string()),
            _ => route
                .replace("{client_id}", &self.client_id)
                .replace("{rma}", &self.rma)
                .replace("{version}", "0")
                .replace("{mail}/{language}", "refunded/de"),
        };
        let address = address.replace("{handle}", BUSY).replace("{interface}", Interface::Rma.as_str());
        (!address.contains('{')).then_some(address)
    }

    /// Lists with filters, and what differs by what is shown.
    fn further(&self) -> Vec<String> {
        let Self { failed, delivered, owed, large_group, small_group, order, .. } = self;
        let ago = |hours: i64| encoded(&(Utc::now() - TimeDelta::hours(hours)).to_rfc3339_opts(SecondsFormat::Secs, true));
        let mut further = vec![
            format!("/messages?since={}", ago(24)),
            format!("/messages?until={}", ago(24 * 20)),
            "/messages?state=failed".to_owned(),
            format!("/messages?merchant={BUSY}"),
            format!("/messages?merchant={BUSY}&subject=R-1"),
            format!("/messages?merchant={BUSY}&interface={FAILING}"),
            format!("/messages?merchant={BUSY}&interface=inventory_receipt"),
            format!("/messages?merchant={BUSY}&since={}&until={}", ago(200), ago(100)),
            format!("/merchants/{BUSY}/messages/{delivered}"),
            format!("/merchants/{BUSY}/messages/{owed}"),
            format!("/failures?merchant={BUSY}"),
            "/failures?owner=nobody".to_owned(),
            "/failures?owner=Sam".to_owned(),
            "/failures?internal=yes".to_owned(),
            format!("/failures/group?{small_group}"),
            format!("/failures/retry?{small_group}"),
            format!("/failures/retry?{large_group}&since={}", ago(48)),
            format!("/failures/retry?{large_group}&id={failed}"),
            format!("/failures/discard?{small_group}"),
            format!("/failures/discard?{large_group}&id={failed}"),
            "/merchants?state=onboarding".to_owned(),
            "/merchants?q=merchant-9".to_owned(),
            "/merchants/merchant-1".to_owned(),
            format!("/merchants/{UNFINISHED}/onboarding"),
            format!("/merchants/{BUSY}/policy?order={order}"),
            format!("/exceptions?merchant={BUSY}"),
            "/exceptions?show=mine".to_owned(),
            "/exceptions?show=unassigned".to_owned(),
            "/exceptions?show=resolved".to_owned(),
            format!("/intake?merchant={BUSY}"),
            format!("/intake/warnings?merchant={BUSY}"),
            format!("/intake/imports?merchant={BUSY}"),
            format!("/warehouse?merchant={BUSY}"),
            "/warehouse?state=open".to_owned(),
            format!("/warehouse/returns?merchant={BUSY}"),
            format!("/warehouse/shipments?merchant={BUSY}"),
            format!("/warehouse/drop-ship?merchant={BUSY}"),
            "/search?q=000000000042".to_owned(),
            "/search?q=1Z0000000000000042".to_owned(),
            "/search?q=UNIT-42".to_owned(),
            "/search?q=nothing".to_owned(),
            format!("/merchants/{BUSY}/endpoints/rma/replay?from={}&to={}", ago(2), ago(1)),
            format!("/merchants/{BUSY}/endpoints/rma/replay?from={}&to={}", ago(24 * 7), ago(1)),
        ];
        for state in ["owed", "delivered", "failed", "unsent", "discarded"] {
            further.push(format!("/messages?merchant={BUSY}&state={state}"));
        }
        for interface in Interface::ALL.into_iter().filter(|interface| *interface != Interface::Rma) {
            further.push(format!("/merchants/{BUSY}/endpoints/{interface}"));
            further.push(format!("/merchants/{BUSY}/endpoints/{interface}/test"));
        }
        further
    }
}

/// The pages of a run.
pub(super) struct Pages {
    /// The addresses of those that are opened.
    pub(super) addresses: Vec<String>,
    /// Routes for which nothing stored here has a page, such as actions on a return that it is not ready for.
    pub(super) left_out: Vec<&'static str>,
}

impl Pages {
    /// Opens every page once. One for which nothing is stored is not found or refused; any other must be shown.
    pub(super) async fn find(stage: &Stage, person: &mut Person) -> anyhow::Result<Self> {
        let samples = Samples::find(stage, person).await?;
        let (mut addresses, mut left_out) = (Vec::new(), Vec::new());
        for guard in guards().into_iter().filter(|guard| guard.method == "GET" && guard.role.is_some()) {
            let Some(address) = samples.address(guard.path) else {
                left_out.push(guard.path);
                continue;
            };
            let shown = person.get(&address).await?;
            match shown.status {
                200 => addresses.push(address),
                303 | 404 | 409 | 422 => left_out.push(guard.path),
                status => bail!("{address} was answered with {status}: {}", shown.html),
            }
        }
        addresses.extend(samples.further());
        Ok(Self { addresses, left_out })
    }
}
