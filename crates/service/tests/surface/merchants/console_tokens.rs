//! Personal tokens in the console: made, shown once, revoked, and ended with their operator.

use std::time::Duration;

use backhaul::flow::merchants::operators::forget_outdated::forget_outdated;
use backhaul::flow::merchants::operators::tokens::find;
use domain::merchants::operator::Role;
use secrecy::SecretString;
use store::merchants::operator_tokens::Live;

use crate::world::World;
use crate::world::console::{Console, between};

const DAY: Duration = Duration::from_hours(24);

/// The token that a person makes.
async fn makes(person: &Console<'_>, name: &str, role: &str, days: &str) -> String {
    let page = person.post("/account/tokens", &[("name", name), ("role", role), ("days", days)]).await.page();
    assert!(page.contains("The token is shown once"), "{page}");
    between(&page, "<p class=\"wrap\"><code>", "</code>").to_owned()
}

async fn works(world: &World, token: &str) -> Option<Live> {
    find(&world.app, &SecretString::from(token)).await.unwrap()
}

/// The hidden id in the first form that revokes a token.
fn first_id(page: &str, action: &str) -> String {
    let (_, form) = page.split_once(action).unwrap_or_else(|| panic!("no {action} in {page}"));
    between(form, "name=\"id\" value=\"", "\"").to_owned()
}

#[tokio::test]
async fn a_token_is_shown_once_and_stored_as_a_keyed_hash() {
    let world = World::new().await;
    let manager = world.console(Role::Manager).await;
    assert!(manager.get("/account/tokens").await.page().contains("Tokens that work: 0"));
    let token = makes(&manager, "onboarding", "support", "90").await;
    assert!(token.starts_with("bho_") && token.len() == 47, "{token}");
    let page = manager.get("/account/tokens").await.page();
    assert!(page.contains("onboarding") && page.contains(">never<") && !page.contains(&token), "{page}");
    let rows = world.database.texts("select row_to_json(t)::text from operator_token t").await.join("\n");
    assert!(rows.contains("onboarding") && !rows.contains(&token), "{rows}");
    let plain = backhaul::platform::keys::bearer::hash(&token).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert!(!rows.contains(&plain), "the hash takes a key");
    let audit = world.database.texts("select actor || ' ' || detail from home_audit where action = 'operator.token_made'").await;
    assert_eq!(audit, ["operator:manager.one@ops.example.com onboarding, support, 90 days"]);

    let live = works(&world, &token).await.unwrap();
    assert_eq!((live.operator.email.as_str(), live.name.as_str(), live.role), ("manager.one@ops.example.com", "onboarding", Role::Support));
    assert!(works(&world, &token.replace("bho_", "bho-")).await.is_none());
    assert!(!manager.get("/account/tokens").await.page().contains(">never<"), "its use is noted");
}

#[tokio::test]
async fn a_token_is_never_more_than_its_operator() {
    let world = World::new().await;
    let (support, admin) = (world.console(Role::Support).await, world.console(Role::Admin).await);
    let page = support.get("/account/tokens").await.page();
    assert!(page.contains("value=\"support\"") && !page.contains("value=\"manager\""), "{page}");
    for (fields, why) in [
        ([("name", "x"), ("role", "admin"), ("days", "90")], "A token may do at most what you may"),
        ([("name", " "), ("role", "viewer"), ("days", "90")], "Give the token a name"),
        ([("name", "x"), ("role", "viewer"), ("days", "366")], "1 to 365 days"),
        ([("name", "x"), ("role", "viewer"), ("days", "soon")], "1 to 365 days"),
    ] {
        let refused = support.post("/account/tokens", &fields).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        assert!(refused.text.contains(why), "{why}: {}", refused.text);
    }
    assert_eq!(world.database.count("operator_token").await, 0);

    let token = makes(&support, "x", "support", "365").await;
    let id = world.database.texts("select operator_id::text from operator where role = 'support'").await.remove(0);
    admin.post(&format!("/operators/{id}/role"), &[("role", "viewer")]).await;
    assert_eq!(works(&world, &token).await.unwrap().role, Role::Viewer, "a lower role counts at once");
    for number in 2..=20 {
        makes(&support, &format!("t{number}"), "viewer", "1").await;
    }
    let refused = support.post("/account/tokens", &[("name", "x"), ("role", "viewer"), ("days", "1")]).await;
    assert!(refused.status == 422 && refused.text.contains("20 tokens that work"), "{}", refused.text);
}

#[tokio::test]
async fn a_token_ends_when_it_is_revoked_expires_or_its_operator_is_disabled() {
    let world = World::new().await;
    let (support, other, admin) =
        (world.console(Role::Support).await, world.console(Role::Support).await, world.console(Role::Admin).await);
    let token = makes(&support, "own", "viewer", "90").await;
    let id = first_id(&support.get("/account/tokens").await.page(), "/account/tokens/revoke");
    other.post("/account/tokens/revoke", &[("id", id.as_str())]).await;
    assert!(works(&world, &token).await.is_some(), "somebody else's token is out of reach");
    support.post("/account/tokens/revoke", &[("id", id.as_str())]).await;
    assert!(works(&world, &token).await.is_none());

    let token = makes(&support, "theirs", "viewer", "90").await;
    let of = world.database.texts("select operator_id::text from operator where email = 'support.one@ops.example.com'").await.remove(0);
    let action = format!("/operators/{of}/tokens/revoke");
    let id = first_id(&admin.get(&format!("/operators/{of}")).await.page(), &action);
    assert_eq!(other.post(&action, &[("id", id.as_str())]).await.status, 403);
    admin.post(&action, &[("id", id.as_str())]).await;
    assert!(works(&world, &token).await.is_none());
    let audit =
        world.database.texts("select actor || ' ' || detail from home_audit where action = 'operator.token_revoked' order by detail").await;
    assert_eq!(audit, ["operator:support.one@ops.example.com own", "operator:admin.one@ops.example.com theirs"]);

    for end in ["disable", "reset"] {
        let token = makes(&support, end, "viewer", "90").await;
        admin.post(&format!("/operators/{of}/{end}"), &[("", ""); 0]).await;
        assert!(works(&world, &token).await.is_none(), "{end}");
        admin.post(&format!("/operators/{of}/enable"), &[("", ""); 0]).await;
        assert!(works(&world, &token).await.is_none(), "{end}: it does not come back");
        if end == "disable" {
            support.signs_in().await;
        }
    }

    let token = makes(&other, "short", "viewer", "2").await;
    world.time_passes(DAY + Duration::from_secs(24 * 60 * 60 - 1));
    assert!(works(&world, &token).await.is_some());
    world.time_passes(Duration::from_secs(1));
    assert!(works(&world, &token).await.is_none());
    world.time_passes(DAY * 30);
    forget_outdated(&world.app).await.unwrap();
    assert_eq!(world.database.count("operator_token").await, 4, "those of 90 days are still there");
    world.time_passes(DAY * 90);
    forget_outdated(&world.app).await.unwrap();
    assert_eq!(world.database.count("operator_token").await, 0);
}
