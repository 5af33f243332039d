//! The outbox of a transaction: what a commit writes of the messages that were owed.

use domain::messages::message::{Interface, Internal, Kind};
use store::messages::outbox::Message;

use crate::world::World;

impl World {
    fn message(&self, kind: Kind, subject: &str) -> Message {
        let (event, body) = ("test.owed", "{}".to_owned());
        Message { id: self.app.mint(), kind, event, subject: subject.to_owned(), sequence: 1, body, due_at: self.app.now() }
    }

    fn rma(&self, subject: &str) -> Message {
        self.message(Kind::Of(Interface::Rma), subject)
    }

    async fn subjects(&self) -> Vec<String> {
        self.database.texts("select subject from message order by message_id").await
    }
}

#[tokio::test]
async fn messages_of_several_kinds_are_committed_together_each_for_its_own_endpoint() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    tx.owe(world.rma("R-1"));
    tx.owe(world.message(Kind::Of(Interface::OutboundAsn), "A-1"));
    tx.owe(world.message(Kind::Internal(Internal::Mail), "M-1"));
    let announced = tx.commit().await.unwrap();
    assert_eq!(announced.signals.len(), 2, "the merchant has no endpoint for outbound ASNs");
    assert_eq!(world.subjects().await, ["R-1", "A-1", "M-1"]);
    let owed = "select endpoint.interface || ' ' || delivery.lane from delivery join endpoint using (merchant_id, endpoint_id) order by 1";
    assert_eq!(world.database.texts(owed).await, ["mail M-1", "rma R-1"]);
}
