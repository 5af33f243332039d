//! A scanner: receives its share of the units, of the ASN and of returns, which another scanner receives as well, and repeats
//! requests until it gets an answer.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::plan::Plan;
use super::request::request;
use super::returned::{Returned, UNITS_EACH, returns_of};
use crate::messages::witness::SEED;
use crate::orders::load::Connection;

/// The ASN that is received, and the warehouse that receives it.
const NUMBER: &str = "CHAOS-1";
pub(super) const WAREHOUSE: &str = "WH-1";
/// The most units per call.
const TOGETHER: usize = 5;
/// The number of scanners that receive each unit.
const SCANNERS_PER_UNIT: usize = 2;
/// Unexpected units per scanner, for the ASN and for returns in turn.
const STRAYS: usize = 4;
/// The percentage of answers lost on the scanner's side.
const UNHEARD: u32 = 10;
/// The pause before a repeat, in milliseconds.
const REPEAT_AFTER: std::ops::Range<u64> = 20..200;

/// The service's answer about a unit, even if the scanner lost it.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) unit: String,
    pub(super) result: String,
}

/// The license plate of a line's unit.
pub(super) fn unit(line: usize) -> String {
    format!("U-{line}")
}

/// The fewest answers about units in a run.
pub(super) const fn answers_of(plan: &Plan) -> usize {
    (plan.lines + returns_of(plan) * UNITS_EACH) * SCANNERS_PER_UNIT + plan.scanners * STRAYS
}

/// A unit to scan.
struct Scan {
    unit: String,
    /// The return and its line that the unit is scanned for; else it is scanned for the ASN.
    rma: Option<(String, &'static str)>,
}

impl Scan {
    fn body(&self) -> Value {
        let (rma, line) = self.rma.as_ref().map(|(rma, line)| (rma, line)).unzip();
        json!({
            "asn_number": self.rma.is_none().then_some(NUMBER), "rma_identifier": rma, "line_identifier": line,
            "unit_identifier": self.unit, "warehouse_identifier": WAREHOUSE, "condition": "A", "user_login": "kim",
        })
    }
}

pub(super) struct Scanner {
    address: SocketAddr,
    token: String,
    units: Vec<Scan>,
    answers: Arc<Mutex<Vec<Answer>>>,
    rng: StdRng,
}

impl Scanner {
    pub(super) fn new(
        number: usize,
        plan: &Plan,
        returned: &[Returned],
        address: SocketAddr,
        token: &str,
        answers: Arc<Mutex<Vec<Answer>>>,
    ) -> Self {
        let mut rng = StdRng::seed_from_u64(SEED.wrapping_add(number as u64));
        let mine = |at: usize| (0..SCANNERS_PER_UNIT).any(|hand| (at + hand) % plan.scanners == number);
        let announced = (0..plan.lines).filter(|line| mine(*line)).map(|line| Scan { unit: unit(line), rma: None });
        let of_returns = (0..).zip(returned).filter(|(at, _)| mine(*at));
        let of_returns = of_returns.map(|(_, of)| Scan { unit: of.unit.clone(), rma: Some((of.rma.clone(), "L1")) });
        let strays = (0..STRAYS).map(|stray| Scan {
            unit: format!("STRAY-{number}-{stray}"),
            rma: returned.get(number % returned.len().max(1)).filter(|_| stray % 2 == 1).map(|of| (of.rma.clone(), "L9")),
        });
        let mut units: Vec<Scan> = announced.chain(of_returns).chain(strays).collect();
        // Each scanner has its own order, so that locks are requested in conflicting orders.
        units.shuffle(&mut rng);
        Self { address, token: token.to_owned(), units, answers, rng }
    }

    /// Receives all its units.
    pub(super) async fn work(mut self) -> anyhow::Result<()> {
        for batch in std::mem::take(&mut self.units).chunks(TOGETHER) {
            self.receive(batch).await?;
        }
        Ok(())
    }

    /// Repeats a call until it is answered and the answer is not lost.
    async fn receive(&mut self, units: &[Scan]) -> anyhow::Result<()> {
        let request = request("/v1/receipts", &self.token, &json!({"units": units.iter().map(Scan::body).collect::<Vec<_>>()}));
        loop {
            if let Some(mut connection) = Connection::open(self.address).await
                && let Some(status) = connection.exchange(&request).await
            {
                match status {
                    200 => {
                        self.record(connection.body())?;
                        if self.rng.random_range(0..100) >= UNHEARD {
                            return Ok(());
                        }
                    }
                    429 | 503 => {}
                    _ => bail!("receiving units failed: {status} {}", String::from_utf8_lossy(connection.body())),
                }
            }
            tokio::time::sleep(Duration::from_millis(self.rng.random_range(REPEAT_AFTER))).await;
        }
    }

    fn record(&self, body: &[u8]) -> anyhow::Result<()> {
        let body: Value = serde_json::from_slice(body)?;
        let units = body.get("units").and_then(Value::as_array).context("the answer has no units")?;
        let text = |unit: &Value, name: &str| unit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let answers = units.iter().map(|unit| Answer { unit: text(unit, "unit_identifier"), result: text(unit, "result") });
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
        Ok(())
    }
}

/// Announces the ASN. Returns the time that took.
pub(super) async fn announce(address: SocketAddr, token: &str, lines: usize) -> anyhow::Result<Duration> {
    let line = |number: usize| json!({"line_identifier": number.to_string(), "unit_identifier": unit(number), "sku": "SHOE-42"});
    let numbers: Vec<usize> = (0..lines).collect();
    let carton = |numbers: &[usize]| json!({"details": numbers.iter().map(|number| line(*number)).collect::<Vec<_>>()});
    let asn = json!({
        "asn_number": NUMBER, "shipment_identifier": "S-1", "from": {"identifier": "STORE-7", "type": "store"},
        "to": {"identifier": "MAIN", "type": "warehouse"}, "cartons": numbers.chunks(1_000).map(carton).collect::<Vec<_>>(),
    });
    let request = request("/v1/inbound_asns", token, &json!({"inbound_asns": [asn]}));
    let started = Instant::now();
    let mut connection = Connection::open(address).await.context("the service does not listen")?;
    let status = connection.exchange(&request).await.context("the announcement was not answered")?;
    ensure!(status == 201, "the announcement failed: {status} {}", String::from_utf8_lossy(connection.body()));
    Ok(started.elapsed())
}
