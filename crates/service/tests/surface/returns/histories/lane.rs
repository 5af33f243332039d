//! Runs histories one after the other in a database of their own.

use std::fmt::Debug;

use backhaul::flow::merchants::add_merchant::add_merchant;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::warehouse::configure_place::{WarehouseChange, set_warehouse};
use chrono::TimeDelta;
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::Method;
use domain::returns::rma::policy::{GiftCardTerms, Offer, Policy, RefundCloses};
use sandbox::merchant::{Merchant as Systems, OnShelf};
use sqlx::PgConnection;
use store::messages::partitions;
use store::returns::return_policies;

use super::drive;
use super::generate::{self, Generator};
use super::invariants::{self, Record};
use super::model::exchanging::{GIFT_CARD, SKUS};
use super::model::{Model, Terms};
use super::step::Step;
use super::tampering::Tampering;
use super::view::{self, View};
use crate::world::warehouse::address;
use crate::world::{WAREHOUSE, World, beginning};

/// A database and the histories that run in it.
pub struct Lane {
    world: World,
    /// The systems of every merchant in this lane.
    systems: Systems,
    connection: PgConnection,
    taken: u32,
}

/// A history that failed.
#[derive(Debug)]
pub struct Wrong {
    pub steps: Vec<Step>,
    pub why: String,
}

impl Lane {
    pub async fn new() -> Self {
        let mail = [("BACKHAUL__MAIL__URL", "smtp://127.0.0.1:9?tls=none"), ("BACKHAUL__MAIL__FROM", "returns@example.com")];
        let world = World::with(&mail).await;
        partitions::make(world.app.cell(), beginning(), i32::try_from(generate::MOST_HOURS / 24).unwrap() + 2).await.unwrap();
        let mut connection = world.database.connect().await;
        // A view is read after every step; planning it each time, over months of partitions, takes longer than reading it. A cluster
        // does not take such a plan for every statement.
        if !world.database.is_on_a_cluster() {
            sqlx::query("set plan_cache_mode = force_generic_plan").execute(&mut connection).await.unwrap();
        }
        let systems = Systems::start().await.unwrap();
        systems.has_variants("V-SHOE", SKUS.map(|sku| OnShelf::new(sku, sku, 5_000).stock(1_000_000)));
        Self { world, systems, connection, taken: 0 }
    }

    /// Runs a history from the start. `tampering` changes the observed view.
    async fn run(
        &mut self,
        terms: Terms,
        mut next: impl FnMut(&Model) -> Option<Step>,
        tampering: Option<Tampering>,
    ) -> Result<Record, Wrong> {
        let app = self.world.app.clone();
        app.clock.set(beginning());
        self.taken += 1;
        let merchant = add_merchant(&app, "test", &format!("m-{}", self.taken).parse().unwrap(), "A merchant", None).await.unwrap();
        let policy = policy(terms);
        let mut tx = app.begin(merchant).await.unwrap();
        return_policies::save(&mut tx, &policy, "test", app.now()).await.unwrap();
        tx.commit().await.unwrap();
        let warehouse = WarehouseChange { name: Some("Reno".to_owned()), address: Some(address("Dock 4")), ..WarehouseChange::default() };
        set_warehouse(&app, "test", merchant, &WAREHOUSE.parse().unwrap(), warehouse).await.unwrap();
        for interface in [Interface::ExchangeVariants, Interface::ExchangeOrder] {
            let change =
                EndpointChange { url: Some(self.systems.url(interface.path())), per_second: Some(10_000), ..EndpointChange::default() };
            set_endpoint(&app, "test", merchant, interface, change).await.unwrap();
        }

        let (mut model, mut names, mut record) = (Model::new(terms), Vec::new(), Record::new());
        while let Some(step) = next(&model) {
            let waited = if let Step::Wait(hours) = step { TimeDelta::hours(hours) } else { TimeDelta::zero() };
            app.clock.advance((TimeDelta::seconds(1) + waited).to_std().unwrap());
            model.now = app.now();
            let outcome = drive::take(&app, &mut self.connection, merchant, &step, &mut names).await;
            let started = outcome.strip_prefix("started ");
            let looked_at = looked_at(&step, &model, record.len());
            let expected = model.take(&step, started, looked_at);
            let mut seen = View { outcome, ..view::see(&app, &mut self.connection, merchant, &policy, looked_at).await };
            let tampered = tampering.is_some_and(|tampering| tampering.change(&mut seen));
            let difference = difference(&expected, &seen);
            assert!(!tampered || difference.is_some(), "{tampering:?} goes unseen");
            record.push((step, seen));
            if let Some(why) = difference {
                return Err(Wrong { steps: steps(&record), why });
            }
        }
        // The following histories must not wake the returns of this one.
        let over = sqlx::query("update rma set wakes_at = null where merchant_id = $1").bind(merchant.0);
        over.execute(&mut self.connection).await.unwrap();
        match invariants::check(terms, &record) {
            Ok(()) => Ok(record),
            Err(why) => Err(Wrong { steps: steps(&record), why }),
        }
    }

    /// Runs the history of a seed.
    pub async fn run_seed(&mut self, seed: u64, tampering: Option<Tampering>) -> Result<Record, (Terms, Wrong)> {
        let (mut generator, terms) = Generator::new(seed);
        self.run(terms, |model| generator.next(model), tampering).await.map_err(|wrong| (terms, wrong))
    }

    /// Drops steps as long as the history still fails.
    pub async fn shrink(&mut self, terms: Terms, mut wrong: Wrong) -> Wrong {
        let mut at = wrong.steps.len();
        while at > 0 {
            at -= 1;
            let mut fewer = wrong.steps.clone();
            fewer.remove(at);
            let mut steps = fewer.into_iter();
            if let Err(still) = self.run(terms, |_| steps.next(), None).await {
                wrong = still;
                at = at.min(wrong.steps.len());
            }
        }
        wrong
    }
}

fn steps(record: &Record) -> Vec<Step> {
    record.iter().map(|(step, _)| step.clone()).collect()
}

fn policy(terms: Terms) -> Policy {
    let offer = |method, fee, deducted| Offer { method, fee: Cents::new(fee).unwrap(), deducted };
    Policy {
        managed_receiving: terms.managed_receiving,
        offers: vec![
            offer(Method::MailBack, terms.fee, terms.deducted),
            offer(Method::ExpressReturns, 0, false),
            offer(Method::CustomerKeep, 0, false),
        ],
        gift_card: terms.bonus.map(|bonus| GiftCardTerms { sku: GIFT_CARD.to_owned(), bonus: Cents::new(bonus).unwrap() }),
        refusals_are_final: terms.refusals_are_final,
        refund_closes: if terms.any_refund_closes { RefundCloses::Any } else { RefundCloses::All },
        ..Policy::default()
    }
}

/// The order whose returnable units are compared: the one that the step is about, or any.
fn looked_at(step: &Step, model: &Model, nth_step: usize) -> usize {
    let of_return = |nth: usize| model.returns.get(nth).map_or(0, |kept| kept.order);
    match step {
        Step::Publish(snapshot) => snapshot.order,
        Step::Start(start) => start.order,
        Step::Carry(report) => report.of.map_or(0, of_return),
        Step::Receive(arrival) => of_return(arrival.of),
        Step::Close(nth)
        | Step::Cancel(nth)
        | Step::Resend(nth)
        | Step::Answer(nth, ..)
        | Step::Convert(nth)
        | Step::Confirm(nth)
        | Step::Retry(nth) => of_return(*nth),
        Step::Wait(_) => nth_step % 2,
    }
}

/// The first difference between the two views.
fn difference(expected: &View, seen: &View) -> Option<String> {
    fn unlike<T: PartialEq + Debug>(what: &str, expected: &T, seen: &T) -> Option<String> {
        (expected != seen).then(|| format!("{what}: expected {expected:#?}\nseen {seen:#?}"))
    }
    unlike("outcome", &expected.outcome, &seen.outcome)
        .or_else(|| unlike("messages", &expected.messages, &seen.messages))
        .or_else(|| unlike("mails", &expected.mails, &seen.mails))
        .or_else(|| unlike("exchange orders", &expected.asked, &seen.asked))
        .or_else(|| unlike("calls", &expected.called, &seen.called))
        .or_else(|| unlike("exchanges", &expected.exchanges, &seen.exchanges))
        .or_else(|| unlike("returns", &expected.returns, &seen.returns))
        .or_else(|| unlike("refunds in question", &expected.questions, &seen.questions))
        .or_else(|| unlike("claims", &expected.claims, &seen.claims))
        .or_else(|| unlike("what can come back", &expected.returnable, &seen.returnable))
}
