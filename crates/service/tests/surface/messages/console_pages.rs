//! Steps that tests of the console's failure queue and messages share.

use std::time::Duration;

use sandbox::merchant::Answer;
use uuid::Uuid;

use crate::world::World;
use crate::world::console::{Console, Shown};
use crate::world::receiver::{PATH, Receiver};

pub async fn get(person: &Console<'_>, path: &str) -> Shown {
    person.get(path).await
}

/// Sends a form. Those of the failure queue name the merchant in their address, too, by which its cell is found.
pub async fn post(person: &Console<'_>, path: &str, fields: &[(String, String)]) -> Shown {
    match fields.iter().find(|(name, _)| name == "merchant") {
        Some((_, merchant)) if path.starts_with("/failures/") => person.post(&format!("{path}?merchant={merchant}"), fields).await,
        _ => person.post(path, fields).await,
    }
}

/// Fields of a form.
pub fn encoded(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The address of the merchant's group in the failure queue that is listed first.
pub async fn group_of(person: &Console<'_>, merchant: &str) -> String {
    let page = get(person, &format!("/failures?merchant={merchant}")).await.page();
    let at = page.split("href=\"").find(|rest| rest.starts_with("/failures/group?")).unwrap_or_else(|| panic!("no group: {page}"));
    at.split('"').next().unwrap().replace("&#38;", "&")
}

/// The fields that name a group, as its forms hold them.
pub fn hidden(group: &str) -> Vec<(String, String)> {
    serde_urlencoded::from_str(group.split_once('?').unwrap().1).unwrap()
}

/// Makes `count` messages of different subjects fail until they are given up.
pub async fn given_up(receiver: &Receiver<'_>, count: usize) -> Vec<Uuid> {
    receiver.systems.answer(PATH, Answer::status(503).body("down"));
    let mut ids = Vec::new();
    for at in 0..count {
        ids.push(receiver.is_owed(&format!("R-{at}"), 1).await);
    }
    receiver.world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    ids
}

/// A second passes, and the newest job has released this many messages.
pub async fn a_second_passes(world: &World, released: &str) {
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select released::text from retry_job order by job_id desc limit 1", &[released]).await;
    world.deliver_all_due().await;
}

/// Waits until the newest job has ended.
pub async fn the_job_ends(world: &World) {
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select (ended_at is not null)::text from retry_job order by job_id desc limit 1", &["true"]).await;
}
