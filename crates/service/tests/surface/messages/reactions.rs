//! A reaction commits together with its delivery, and a call whose answer matters is recorded before it is made.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use backhaul::delivery::Delivery;
use backhaul::delivery::deliverer::Deliverer;
use backhaul::delivery::handlers::Handlers;
use backhaul::delivery::reaction::{Ending, Followed, How, Reacting, Reaction, Reactions};
use backhaul::delivery::timer::{Run, Timer};
use backhaul::timers::Timers;
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Answer;
use store::messages::endpoints;
use store::messages::outbox::Message;
use store::{Failed, Tx};
use tokio::sync::Semaphore;

use crate::world::World;
use crate::world::receiver::PATH;

/// A failure of the reaction in a test; without one it succeeds.
#[derive(Clone, Copy)]
enum Fault {
    Refused,
    Panic,
}

/// Owes the merchant one more message, of a kind without a reaction, and records the endings it reacted to.
#[derive(Clone)]
struct OwesMore {
    world: Arc<World>,
    faults: Arc<Mutex<Vec<Fault>>>,
    endings: Arc<Mutex<Vec<String>>>,
}

impl OwesMore {
    fn new(world: &Arc<World>, faults: &[Fault]) -> Self {
        Self { world: Arc::clone(world), faults: Arc::new(Mutex::new(faults.to_vec())), endings: Arc::default() }
    }

    fn delivers(&self) -> Deliverer {
        let app = &self.world.app;
        let reactions = Reactions::default().with(Kind::Of(Interface::Rma), self.clone());
        Deliverer::start(Delivery::clone(app), Handlers { reactions, timer: Arc::new(Timers::new(app.clone())) })
    }

    fn endings(&self) -> Vec<String> {
        self.endings.lock().unwrap().clone()
    }
}

impl Reaction for OwesMore {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            let how = match &ending.how {
                How::Delivered(status, answer) => format!("{status} {}", String::from_utf8_lossy(answer)),
                How::Refused(status) => format!("refused with {status}"),
                How::GivenUp => "given up".to_owned(),
            };
            self.endings.lock().unwrap().push(how);
            let kind = Kind::Of(Interface::ExchangeOrder);
            let (subject, body) = ("O-1".to_owned(), "{}".to_owned());
            let endpoint = endpoints::lock(tx, Kind::Of(Interface::Rma)).await?.unwrap().id;
            tx.owe_to(
                endpoint,
                Message { id: self.world.app.mint(), kind, event: "order.created", subject, sequence: 1, body, due_at: ending.at },
            );
            let fault = self.faults.lock().unwrap().pop();
            match fault {
                Some(Fault::Refused) => Err(Failed::Refused("a reaction of a test".to_owned())),
                Some(Fault::Panic) => panic!("a reaction of a test"),
                None => Ok(Followed::Settled),
            }
        })
    }
}

#[tokio::test]
async fn what_follows_from_a_delivery_is_one_with_it() {
    let world = Arc::new(World::new().await);
    let receiver = world.receiver("acme").await;
    let reaction = OwesMore::new(&world, &[]);
    receiver.systems.answer_next(PATH, [Answer::status(500), Answer::ok().body("a".repeat(20_000))]);
    receiver.is_owed("R-1", 1).await;
    let deliverer = reaction.delivers();
    deliverer.deliver_all_due().await;
    assert!(reaction.endings().is_empty(), "it is not over yet");
    world.time_passes(Duration::from_secs(6));
    deliverer.deliver_all_due().await;
    assert_eq!(reaction.endings(), [format!("200 {}", "a".repeat(20_000))], "the reaction has the whole answer");
    let kept = world.database.texts("select max(length(answer))::text from attempt").await;
    assert_eq!(kept, ["16384"], "the history keeps the beginning of the answer");
    assert_eq!(receiver.systems.count(), 3, "what the reaction owed was delivered");
    assert_eq!(world.owed().await, 0);
}

#[tokio::test]
async fn a_reaction_that_cannot_be_done_leaves_nothing_behind_and_its_message_is_sent_again() {
    for fault in [Fault::Refused, Fault::Panic] {
        a_reaction_fails(fault).await;
    }
}

async fn a_reaction_fails(fault: Fault) {
    let world = Arc::new(World::new().await);
    let receiver = world.receiver("acme").await;
    let reaction = OwesMore::new(&world, &[fault]);
    let message = receiver.is_owed("R-1", 1).await;
    let deliverer = reaction.delivers();
    deliverer.deliver_all_due().await;
    assert_eq!((world.owed().await, world.database.count("message").await), (1, 1), "the message it owed is rolled back with it");
    assert_eq!(world.metric("backhaul_delivery_reactions_failed_total").await, 1);
    assert_eq!(world.metric("backhaul_delivery_engines_broken_total").await, 0);
    world.time_passes(Duration::from_mins(1));
    deliverer.deliver_all_due().await;
    assert_eq!((world.owed().await, world.database.count("message").await, reaction.endings().len()), (0, 2, 2));
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, message).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 1], "a failure of the service is not counted");
}

#[tokio::test]
async fn a_reaction_is_told_when_its_message_is_given_up() {
    let world = Arc::new(World::new().await);
    let receiver = world.receiver("acme").await;
    let reaction = OwesMore::new(&world, &[]);
    receiver.systems.answer_by(PATH, |received| {
        if received.header("x-service-event") == Some("rma.created") { Answer::status(500) } else { Answer::ok() }
    });
    receiver.is_owed("R-1", 1).await;
    let deliverer = reaction.delivers();
    for _ in 0..6 {
        deliverer.deliver_all_due().await;
        world.time_passes(Duration::from_hours(7));
    }
    deliverer.deliver_all_due().await;
    assert_eq!(reaction.endings(), ["given up"]);
    assert_eq!((world.owed().await, world.failures().await), (0, 1));
}

#[tokio::test]
async fn a_call_whose_answer_matters_is_written_down_before_it_is_made() {
    let world = Arc::new(World::new().await);
    let receiver = world.receiver("acme").await;
    let reaction = OwesMore::new(&world, &[]);
    receiver.systems.answer_next(PATH, [Answer::ok().held()]);
    receiver.is_owed("R-1", 1).await;
    let deliverer = reaction.delivers();
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    let outcomes = "select outcome from attempt order by started_at, outcome";
    assert_eq!(world.database.texts(outcomes).await, ["unknown"]);
    assert_eq!(world.database.count("attempt_hourly").await, 0, "it counts when its outcome is known");
    receiver.systems.release();
    deliverer.deliver_all_due().await;
    assert_eq!(world.database.texts(outcomes).await, ["200", "200"]);
    assert_eq!(world.database.texts("select sum(count)::text from attempt_hourly").await, ["2"]);
}

/// A timer that panics as soon as it is told to, once.
struct Breaking(Arc<Semaphore>);

impl Timer for Breaking {
    fn run(&self) -> Run<'_> {
        Box::pin(async {
            match self.0.try_acquire() {
                Ok(told) => {
                    told.forget();
                    panic!("a timer of a test");
                }
                Err(_) => true,
            }
        })
    }
}

#[tokio::test]
async fn an_engine_that_breaks_off_is_followed_by_another() {
    let world = Arc::new(World::new().await);
    let receiver = world.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::ok().held()]);
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    let told = Arc::new(Semaphore::new(0));
    let handlers = Handlers { reactions: Reactions::default(), timer: Arc::new(Breaking(Arc::clone(&told))) };
    let deliverer = Deliverer::start(Delivery::clone(&world.app), handlers);
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    told.add_permits(1);
    world.database.becomes("select count(*)::text from delivery_bucket where owner is not null", &["0"]).await;
    let all_delivered = async {
        while world.owed().await > 0 {
            deliverer.deliver_all_due().await;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all_delivered).await.unwrap();
    assert_eq!(world.metric("backhaul_delivery_engines_broken_total").await, 1);
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 1", "R-1 2"], "in order, and none is lost");
    deliverer.leave().await;
}
