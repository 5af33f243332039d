//! A merchant's systems as a receiver of messages.

use std::time::{Duration, SystemTime};

use backhaul::flow::messages::configure_endpoint::{self as flow, EndpointChange};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::{Merchant as Systems, Received};
use secrecy::ExposeSecret as _;
use store::Tx;
use store::messages::outbox::Message;
use uuid::Uuid;

use super::World;

/// A merchant's systems with an endpoint for RMA messages.
pub struct Receiver<'w> {
    pub world: &'w World,
    pub merchant: MerchantId,
    pub systems: Systems,
    pub secret: String,
}

/// A schedule with a retry every second, so that failing messages soon reach the failure queue.
pub fn impatient() -> EndpointChange {
    EndpointChange { waits: Some(vec![1; 5]), ..EndpointChange::default() }
}

/// The path of the endpoint.
pub const PATH: &str = "/rmas";

impl World {
    /// A merchant with an endpoint for RMA messages.
    pub async fn receiver(&self, handle: &str) -> Receiver<'_> {
        self.receiver_with(handle, EndpointChange::default()).await
    }

    pub async fn receiver_with(&self, handle: &str, change: EndpointChange) -> Receiver<'_> {
        let systems = Systems::start().await.unwrap();
        self.receiver_at(handle, systems, change).await
    }

    pub async fn receiver_at(&self, handle: &str, systems: Systems, change: EndpointChange) -> Receiver<'_> {
        let merchant = self.adds_merchant(&handle.parse().unwrap()).await;
        let change = EndpointChange { url: Some(systems.url(PATH)), per_second: Some(10_000), ..change };
        let secret = flow::set_endpoint(&self.app, "test", merchant, Interface::Rma, change).await.unwrap().secret.unwrap();
        Receiver { world: self, merchant, systems, secret: secret.expose_secret().to_owned() }
    }

    /// Delivers messages until none is due.
    pub async fn deliver_all_due(&self) {
        let done = async {
            let deliverer = self.deliverer.get_or_init(|| async { backhaul::worker::start(&self.app) }).await;
            deliverer.deliver_all_due().await;
        };
        tokio::time::timeout(Duration::from_secs(30), done).await.unwrap();
    }

    /// Delivers, and lets the five retries of an impatient schedule pass.
    pub async fn five_retries_pass(&self) {
        self.deliver_all_due().await;
        for _retry in 0..5 {
            self.time_passes(Duration::from_secs(2));
            self.deliver_all_due().await;
        }
    }

    /// Owes `merchant` a message about `subject`, as a flow does.
    pub async fn owe(&self, merchant: MerchantId, subject: &str, sequence: i64) -> Uuid {
        let mut tx = self.app.begin(merchant).await.unwrap();
        let id = self.write(&mut tx, subject, sequence).await;
        self.app.commit(tx).await.unwrap();
        id
    }

    /// Writes the message without committing it.
    pub async fn write(&self, tx: &mut Tx, subject: &str, sequence: i64) -> Uuid {
        let id = self.app.mint();
        let body = format!(r#"{{"rma_identifier":"{subject}","step":{sequence}}}"#);
        let (kind, subject) = (Kind::Of(Interface::Rma), subject.to_owned());
        tx.owe(Message { id, kind, event: "rma.created", subject, sequence, body, due_at: self.app.now() });
        tx.write_early().await.unwrap();
        id
    }

    /// The number of messages owed.
    pub async fn owed(&self) -> i64 {
        self.database.count("delivery").await
    }

    /// The number of messages in the failure queue.
    pub async fn failures(&self) -> i64 {
        self.database.count("failure").await
    }
}

impl Receiver<'_> {
    /// Owes it a message about `subject`.
    pub async fn is_owed(&self, subject: &str, sequence: i64) -> Uuid {
        self.world.owe(self.merchant, subject, sequence).await
    }

    /// The messages that arrived, as `subject sequence`.
    pub fn arrived(&self) -> Vec<String> {
        let summary = |received: &Received| {
            let body = received.json();
            format!("{} {}", body["rma_identifier"].as_str().unwrap_or("?"), body["step"])
        };
        self.systems.received_at(PATH).iter().map(summary).collect()
    }

    pub fn verifies(&self, received: &Received) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(self.world.app.now().timestamp()).unwrap());
        received.verify(&self.secret, now).unwrap();
    }
}
