//! Operators sign in to the console: password, second step, sessions, browsers and one-time links.

use std::time::Duration;

use backhaul::flow::merchants::operators::forget_outdated::forget_outdated;
use backhaul::flow::merchants::operators::invitation::first_link;
use backhaul::flow::merchants::operators::people::{self, Authority, PeopleError};
use backhaul::flow::merchants::operators::ticket::HalfSignIn;
use domain::merchants::operator::{Operator, Role};
use secrecy::ExposeSecret as _;
use store::merchants::operators;

use crate::world::World;
use crate::world::console::{Console, PASSWORD};

/// A world in which a proxy reports the addresses of people.
async fn behind_a_proxy() -> World {
    World::with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)]).await
}

async fn operator(console: &Console<'_>) -> Operator {
    operators::find(console.world.app.home(), &console.email).await.unwrap().unwrap().operator
}

/// The same person with another browser.
fn elsewhere<'w>(person: &Console<'w>) -> Console<'w> {
    let mut other = person.world.at_the_console();
    other.email.clone_from(&person.email);
    other.authenticator.clone_from(&person.authenticator);
    other.recovery_codes.clone_from(&person.recovery_codes);
    other
}

#[tokio::test]
async fn nobody_sees_a_page_without_signing_in() {
    let world = World::new().await;
    let stranger = world.at_the_console();
    let shown = stranger.get("/operators?tz=utc").await;
    assert_eq!((shown.status, shown.location.as_str()), (303, "/sign-in?next=%2Foperators%3Ftz%3Dutc"));
    let page = stranger.get("/sign-in?next=%2Foperators").await.page();
    assert!(page.contains("Sign in to the console") && page.contains(r#"name="next" value="/operators""#), "{page}");
    assert!(!page.contains("single sign-on"), "no provider is set up");
    let person = world.console(Role::Viewer).await;
    assert!(person.is_in().await);
    assert_eq!(person.get("/sign-in?next=%2Foperators").await.location, "/operators", "who is signed in is sent on");
}

#[tokio::test]
async fn a_person_signs_in_with_a_password_and_a_code() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    assert_eq!(person.post("/sign-out", &[("", "")]).await.location, "/sign-in");
    assert!(!person.is_in().await);
    let wrong = person.enters("correct horse battery stapler").await;
    assert!(wrong.status == 422 && wrong.text.contains("The e-mail address or the password is not right."), "{}", wrong.text);
    let entered = person.enters(PASSWORD).await;
    assert_eq!((entered.status, entered.location.as_str()), (303, "/sign-in/code"));
    assert!(!person.is_in().await, "the password alone opens nothing");
    assert!(person.get("/sign-in/code").await.page().contains("support.one@ops.example.com"));
    let wrong = person.post("/sign-in/code", &[("code", "000000")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("This code is not right"), "{}", wrong.text);
    assert!(!person.is_in().await);
    world.time_passes(Duration::from_secs(30));
    let right = person.post("/sign-in/code", &[("code", person.code().as_str())]).await;
    assert_eq!((right.status, right.location.as_str()), (303, "/"));
    assert!(person.is_in().await);
    let audit = world.database.texts("select action || ' ' || actor from home_audit order by audit_id").await;
    assert!(audit.contains(&"operator.signed_in operator:support.one@ops.example.com".to_owned()), "{audit:?}");
}

#[tokio::test]
async fn a_totp_code_works_once() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    assert_eq!(person.signs_in().await.location, "/");
    // The same code, and the one of enrolling before it, are used up.
    for code in [person.code(), person.authenticator.as_ref().unwrap().code_at(world.app.now() - Duration::from_secs(30)).unwrap()] {
        assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
        assert_eq!(person.post("/sign-in/code", &[("code", code.as_str())]).await.status, 422, "{code}");
    }
    assert_eq!(person.signs_in().await.location, "/", "the next one works");
}

#[tokio::test]
async fn a_recovery_code_works_once() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    let code = person.recovery_codes[0].clone();
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    assert!(person.get("/sign-in/recovery").await.page().contains("recovery code"));
    let typed = code.to_uppercase().replace('-', " ");
    assert_eq!(person.post("/sign-in/recovery", &[("code", typed.as_str())]).await.location, "/account");
    assert!(person.get("/account").await.page().contains("9 codes are left"));
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    let again = person.post("/sign-in/recovery", &[("code", code.as_str())]).await;
    assert!(again.status == 422 && again.text.contains("was used before"), "{}", again.text);
    // Nobody else's code works either.
    let other = world.console(Role::Viewer).await;
    assert_eq!(other.enters(PASSWORD).await.location, "/sign-in/code");
    assert_eq!(other.post("/sign-in/recovery", &[("code", person.recovery_codes[1].as_str())]).await.status, 422);
    // New codes take a code of the authenticator, and replace the old ones.
    world.time_passes(Duration::from_secs(30));
    assert_eq!(person.post("/account/codes", &[("code", "000000")]).await.status, 422);
    let codes = person.post("/account/codes", &[("code", person.code().as_str())]).await.page();
    assert!(codes.matches("<li><code>").count() == 10 && !codes.contains(&person.recovery_codes[2]), "{codes}");
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    assert_eq!(person.post("/sign-in/recovery", &[("code", person.recovery_codes[2].as_str())]).await.status, 422);
}

#[tokio::test]
async fn a_session_token_changes_at_sign_in() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    let before = person.cookie("__Host-console").unwrap();
    assert_eq!(person.signs_in().await.location, "/");
    let after = person.cookie("__Host-console").unwrap();
    assert_ne!(before, after);
    // A token that somebody else has chosen is worth nothing.
    let victim = elsewhere(&person);
    victim.has_cookie("__Host-console", Some("chosen"));
    assert!(!victim.is_in().await);
    assert_eq!(victim.signs_in().await.location, "/");
    assert_ne!(victim.cookie("__Host-console").unwrap(), "chosen");
}

#[tokio::test]
async fn a_session_ends_when_idle() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    for _ in 0..3 {
        world.time_passes(Duration::from_mins(59));
        assert!(person.is_in().await, "every request starts the hour anew");
    }
    world.time_passes(Duration::from_hours(1));
    assert!(!person.is_in().await);
}

#[tokio::test]
async fn a_session_ends_after_12_hours() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    for _ in 0..23 {
        world.time_passes(Duration::from_mins(30));
        assert!(person.is_in().await);
    }
    world.time_passes(Duration::from_mins(30));
    assert!(!person.is_in().await, "however often somebody looks");
}

#[tokio::test]
async fn the_limits_of_sessions_are_settings() {
    let world = World::with(&[("BACKHAUL__CONSOLE__IDLE_MINUTES", "5"), ("BACKHAUL__CONSOLE__SESSION_HOURS", "1")]).await;
    let person = world.console(Role::Viewer).await;
    world.time_passes(Duration::from_mins(5));
    assert!(!person.is_in().await);
    assert_eq!(person.signs_in().await.location, "/");
    for _ in 0..14 {
        world.time_passes(Duration::from_mins(4));
        assert!(person.is_in().await);
    }
    world.time_passes(Duration::from_mins(4));
    assert!(!person.is_in().await);
}

#[tokio::test]
async fn sessions_are_listed_and_can_be_ended() {
    let world = behind_a_proxy().await;
    let here = world.console(Role::Support).await;
    let mut there = elsewhere(&here);
    there.address = Some("198.51.100.88");
    assert_eq!(there.signs_in().await.location, "/");
    let page = here.get("/account").await.page();
    assert!(page.contains("198.51.100.88") && page.contains("this one") && page.matches("/account/sessions/end\"").count() == 2, "{page}");
    // One of them, which is not this one.
    let ids: Vec<String> = page
        .split(r#"/account/sessions/end" method="post"><input type="hidden" name="id" value=""#)
        .skip(1)
        .map(|rest| rest[..36].to_owned())
        .collect();
    assert_eq!(here.post("/account/sessions/end", &[("id", ids[0].as_str())]).await.status, 303);
    assert!(here.is_in().await && !there.is_in().await, "the newest is listed first");
    // Nobody ends the sessions of others.
    let other = world.console(Role::Admin).await;
    assert_eq!(other.post("/account/sessions/end", &[("id", ids[1].as_str())]).await.status, 303);
    assert!(here.is_in().await);
    // All others, then all.
    assert_eq!(there.signs_in().await.location, "/");
    assert_eq!(here.post("/account/sessions/end-others", &[("", "")]).await.status, 303);
    assert!(here.is_in().await && !there.is_in().await);
    assert_eq!(there.signs_in().await.location, "/");
    assert_eq!(here.post("/account/sessions/end-all", &[("", "")]).await.location, "/sign-in");
    assert!(!here.is_in().await && !there.is_in().await && other.is_in().await);
}

#[tokio::test]
async fn a_wrong_password_slows_the_address_but_not_a_known_device() {
    let world = behind_a_proxy().await;
    let mut person = world.console(Role::Support).await;
    person.address = Some("198.51.100.4");
    let mut guesser = world.at_the_console();
    (guesser.email, guesser.address) = (person.email.clone(), Some("198.51.100.4"));
    for _ in 0..5 {
        assert_eq!(guesser.enters("guessed and wrong").await.status, 422, "five tries are free");
    }
    let slowed = guesser.enters("guessed and wrong").await;
    assert!(slowed.status == 429 && slowed.text.contains("Try again in 1 second"), "{}", slowed.text);
    assert_eq!(slowed.headers["retry-after"], "1");
    // The right password is slowed down as well, so that nobody learns that it was right.
    assert_eq!(guesser.enters(PASSWORD).await.status, 429);
    // The same address, but a browser that the account knows.
    assert_eq!(person.post("/sign-out", &[("", "")]).await.status, 303);
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    // Each further try waits longer, up to a minute.
    for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(guesser.enters("guessed and wrong").await.status, 429, "before {wait}");
        world.time_passes(Duration::from_secs(wait));
        assert_eq!(guesser.enters("guessed and wrong").await.status, 422, "after {wait}");
    }
    // Another address is slowed down for this account, and for no other.
    let mut distant = elsewhere(&person);
    distant.address = Some("203.0.113.9");
    assert_eq!(distant.enters(PASSWORD).await.status, 429);
    distant.email = "nobody@ops.example.com".to_owned();
    assert_eq!(distant.enters(PASSWORD).await.status, 422);
    distant.email.clone_from(&person.email);
    // After the wait, the right person comes in, and the counts begin anew.
    world.time_passes(Duration::from_mins(1));
    assert_eq!(distant.signs_in().await.location, "/");
    distant.has_cookie("__Host-console-device", None);
    for _ in 0..5 {
        assert_eq!(distant.enters("guessed and wrong").await.status, 422);
    }
    assert_eq!(distant.enters("guessed and wrong").await.status, 429);
    // A known browser is not free to guess for ever either.
    let known: Vec<u16> = {
        let mut found = Vec::new();
        for _ in 0..6 {
            found.push(person.enters("guessed and wrong").await.status);
        }
        found
    };
    assert_eq!(known.last(), Some(&429), "{known:?}");
}

#[tokio::test]
async fn an_unknown_account_looks_like_a_wrong_password() {
    let world = World::new().await;
    let mut person = world.console(Role::Viewer).await;
    let known = person.enters("not the password").await;
    let known_email = std::mem::replace(&mut person.email, "nobody@ops.example.com".to_owned());
    let unknown = person.enters("not the password").await;
    assert_eq!((known.status, known.text.replace(&known_email, "")), (unknown.status, unknown.text.replace(&person.email, "")));
}

#[tokio::test]
async fn codes_are_not_guessed_either() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    let fresh = elsewhere(&person);
    assert_eq!(fresh.enters(PASSWORD).await.location, "/sign-in/code");
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(fresh.post("/sign-in/code", &[("code", "000000")]).await.status);
    }
    assert_eq!(answers, [422, 422, 422, 422, 422, 429], "the right password does not count");
}

#[tokio::test]
async fn a_half_sign_in_ends_after_ten_minutes_and_with_the_password() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    world.time_passes(Duration::from_mins(10));
    let late = person.post("/sign-in/code", &[("code", person.code().as_str())]).await;
    assert_eq!((late.status, late.location.as_str()), (303, "/sign-in"));
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    let other = elsewhere(&person);
    assert_eq!(other.signs_in().await.location, "/");
    let fields = [("current", PASSWORD), ("password", "another good password"), ("repeated", "another good password")];
    assert!(other.post("/account/password", &fields).await.page().contains("The password was changed."));
    world.time_passes(Duration::from_secs(30));
    let outdated = person.post("/sign-in/code", &[("code", person.code().as_str())]).await;
    assert_eq!((outdated.status, outdated.location.as_str()), (303, "/sign-in"), "its password is not the password any more");
    assert!(other.is_in().await && !person.is_in().await, "the change of the password ended the other session");
    // The ticket of one person opens nothing if it is changed.
    let ticket = person.cookie("__Host-console-step").unwrap();
    assert!(HalfSignIn::open(&world.app, &ticket).is_some());
    assert!(HalfSignIn::open(&world.app, &ticket.replace('a', "b")).is_none());
}

#[tokio::test]
async fn a_password_is_changed_with_the_current_one() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    let change = async |current: &str, new: &str, repeated: &str| {
        person.post("/account/password", &[("current", current), ("password", new), ("repeated", repeated)]).await
    };
    let wrong = change("no idea at all", "another good password", "another good password").await;
    assert!(wrong.status == 422 && wrong.text.contains("The current password is not right."), "{}", wrong.text);
    let short = change(PASSWORD, "short", "short").await;
    assert!(short.status == 422 && short.text.contains("The password is too short."), "{}", short.text);
    let differs = change(PASSWORD, "another good password", "another bad password").await;
    assert!(differs.status == 422 && differs.text.contains("differ"), "{}", differs.text);
    assert!(change(PASSWORD, "viewer.one@ops.example.com", "viewer.one@ops.example.com").await.text.contains("is your e-mail address"));
    assert!(change(PASSWORD, "another good password", "another good password").await.page().contains("The password was changed."));
    assert_eq!(person.enters(PASSWORD).await.status, 422);
    assert_eq!(person.enters("another good password").await.location, "/sign-in/code");
}

#[tokio::test]
async fn the_first_link_works_once() {
    let world = World::new().await;
    let link = first_link(&world.app, &world.console).await.unwrap().expect("there is nobody yet");
    let second = first_link(&world.app, &world.console).await.unwrap().expect("there is still nobody");
    let mut first = world.at_the_console();
    first.email = "admin.one@ops.example.com".to_owned();
    let (_, token) = link.expose_secret().rsplit_once('/').unwrap();
    let page = first.get(&format!("/invitation/{token}")).await.page();
    assert!(page.contains("becomes its first administrator"), "{page}");
    first.accepts(link.expose_secret()).await;
    assert!(first.is_in().await);
    assert_eq!(operator(&first).await.role, Role::Admin);
    // Neither it nor another one works any more, and there is no third.
    for link in [&link, &second] {
        let (_, token) = link.expose_secret().rsplit_once('/').unwrap();
        let stranger = world.at_the_console();
        let gone = stranger.get(&format!("/invitation/{token}")).await;
        assert!(gone.status == 422 && gone.text.contains("This link does not work any more"), "{}", gone.text);
        let fields = [("token", token), ("email", "x@example.com"), ("name", "X"), ("password", PASSWORD), ("repeated", PASSWORD)];
        assert_eq!(stranger.post("/invitation", &fields).await.status, 422);
    }
    assert!(first_link(&world.app, &world.console).await.unwrap().is_none());
    assert_eq!(world.database.count("operator").await, 1);
}

#[tokio::test]
async fn an_invitation_works_once_for_72_hours_and_until_the_next() {
    let world = World::new().await;
    let admin = world.console(Role::Admin).await;
    let invite = async |email: &str| {
        let fields = [("email", email), ("name", "Support Nine"), ("role", "support")];
        let page = admin.post("/operators/invite", &fields).await.page();
        let (_, rest) = page.split_once("/invitation/").unwrap();
        rest.split('<').next().unwrap().to_owned()
    };
    let open = async |token: &str| world.at_the_console().get(&format!("/invitation/{token}")).await.status;
    let token = invite("late@ops.example.com").await;
    assert_eq!(open(&token).await, 200);
    let list = admin.get("/operators").await.page();
    assert!(list.contains("Invited") && list.contains("late@ops.example.com"), "{list}");
    let twice = admin.post("/operators/invite", &[("email", "LATE@ops.example.com"), ("name", "Again"), ("role", "viewer")]).await;
    assert!(twice.status == 422 && twice.text.contains("is an operator already"), "{}", twice.text);
    // A reset makes a new link; the one before it does not work any more.
    let late = operators::find(world.app.home(), "late@ops.example.com").await.unwrap().unwrap().operator.id;
    let page = admin.post(&format!("/operators/{late}/reset"), &[("", "")]).await.page();
    let newer = page.split_once("/invitation/").unwrap().1.split('<').next().unwrap().to_owned();
    assert_eq!((open(&token).await, open(&newer).await), (422, 200));
    world.time_passes(Duration::from_hours(71));
    assert_eq!(open(&newer).await, 200);
    world.time_passes(Duration::from_hours(1));
    assert_eq!(open(&newer).await, 422);
    assert_eq!(open("never-made").await, 422);
}

#[tokio::test]
async fn roles_take_effect_at_once() {
    let world = World::new().await;
    let admin = world.console(Role::Admin).await;
    let person = world.console(Role::Viewer).await;
    let id = operator(&person).await.id;
    assert_eq!(person.get("/operators/invite").await.status, 403);
    assert_eq!(person.get("/operators").await.status, 200);
    people::change_role(&world.app, "test", Authority::Full, id, Role::Admin).await.unwrap();
    assert_eq!(person.get("/operators/invite").await.status, 200, "without signing in again");
    assert_eq!(admin.post(&format!("/operators/{id}/role"), &[("role", "support")]).await.status, 303);
    assert_eq!(person.get("/operators/invite").await.status, 403);
    assert!(person.get("/account").await.page().contains("<b>support</b>"));
    // Whoever is disabled is signed out at once, and cannot sign in.
    assert_eq!(admin.post(&format!("/operators/{id}/disable"), &[("", "")]).await.status, 303);
    assert!(!person.is_in().await);
    assert_eq!(person.enters(PASSWORD).await.status, 422);
    assert_eq!(admin.post(&format!("/operators/{id}/enable"), &[("", "")]).await.status, 303);
    assert!(!person.is_in().await, "their old session stays ended");
    assert_eq!(person.signs_in().await.location, "/");
    let audit = world.database.texts("select action from home_audit where actor = 'operator:admin.one@ops.example.com'").await;
    for action in ["operator.role_changed", "operator.disabled", "operator.enabled"] {
        assert_eq!(audit.iter().filter(|found| *found == action).count(), 1, "{action}: {audit:?}");
    }
}

#[tokio::test]
async fn there_is_always_an_administrator() {
    let world = World::new().await;
    let admin = world.console(Role::Admin).await;
    let id = operator(&admin).await.id;
    for (path, fields) in [("role", [("role", "viewer")]), ("disable", [("", "")])] {
        let refused = admin.post(&format!("/operators/{id}/{path}"), &fields).await;
        assert!(refused.status == 422 && refused.text.contains("is the only administrator"), "{}", refused.text);
    }
    let second = world.console(Role::Admin).await;
    assert_eq!(second.post(&format!("/operators/{id}/disable"), &[("", "")]).await.status, 303);
    assert!(!admin.is_in().await);
}

#[tokio::test]
async fn one_administrator_alone_makes_and_takes_over_no_other() {
    let world = World::new().await;
    let (admin, second) = (world.console(Role::Admin).await, world.console(Role::Admin).await);
    let invited = admin.post("/operators/invite", &[("email", "x@ops.example.com"), ("name", "X"), ("role", "admin")]).await;
    assert_eq!(invited.status, 422, "{}", invited.text);
    let id = operator(&second).await.id;
    let reset = admin.post(&format!("/operators/{id}/reset"), &[("", "")]).await;
    assert!(reset.status == 422 && reset.text.contains("backhaul operator reset"), "{}", reset.text);
    assert!(second.is_in().await);
    people::disable(&world.app, "test", id).await.unwrap();
    let enabled = admin.post(&format!("/operators/{id}/enable"), &[("", "")]).await;
    assert!(enabled.status == 422 && enabled.text.contains("made by two people"), "{}", enabled.text);
    let alone = people::enable(&world.app, "test", Authority::Admin, id).await;
    assert!(matches!(alone, Err(PeopleError::NeedsSecondPerson)));
}

#[tokio::test]
async fn a_reset_takes_everything_away() {
    let world = World::new().await;
    let (admin, mut person) = (world.console(Role::Admin).await, world.console(Role::Support).await);
    let id = operator(&person).await.id;
    let page = admin.post(&format!("/operators/{id}/reset"), &[("", "")]).await.page();
    assert!(!person.is_in().await);
    assert_eq!(person.enters(PASSWORD).await.status, 422);
    assert_eq!(
        world.database.count("operator_recovery_code where operator_id <> (select operator_id from operator where role = 'admin')").await,
        0
    );
    let old = person.code();
    let link = format!("/invitation/{}", page.split_once("/invitation/").unwrap().1.split('<').next().unwrap());
    person.accepts(&link).await;
    assert!(person.is_in().await);
    assert_ne!(person.code(), old, "the authenticator is a new one");
}

#[tokio::test]
async fn an_open_redirect_is_refused() {
    let world = World::new().await;
    let person = world.console(Role::Viewer).await;
    for elsewhere in
        ["//evil.example", "https://evil.example/", "/\\evil.example", "/%0a/evil.example", "javascript:alert(1)", "/x/..//evil.example"]
    {
        let query = serde_urlencoded::to_string([("next", elsewhere)]).unwrap();
        let location = person.get(&format!("/sign-in?{query}")).await.location;
        assert!(location.starts_with('/') && !location.starts_with("//") && !location.contains('\\'), "{elsewhere} leads to {location}");
    }
    world.time_passes(Duration::from_secs(30));
    let entered = person.post("/sign-in", &[("email", person.email.as_str()), ("password", PASSWORD), ("next", "//evil.example")]).await;
    assert_eq!(entered.location, "/sign-in/code");
    assert_eq!(person.post("/sign-in/code", &[("code", person.code().as_str())]).await.location, "/");
    world.time_passes(Duration::from_secs(30));
    person.post("/sign-in", &[("email", person.email.as_str()), ("password", PASSWORD), ("next", "/operators?tz=utc")]).await;
    assert_eq!(person.post("/sign-in/code", &[("code", person.code().as_str())]).await.location, "/operators?tz=utc");
}

#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let world = World::new().await;
    let admin = world.console(Role::Admin).await;
    let fields = [("email", "x@ops.example.com"), ("name", "X"), ("role", "viewer")];
    assert_eq!(admin.posts_from_elsewhere("/operators/invite", &fields).await.status, 403);
    assert_eq!(admin.posts_from_elsewhere("/sign-out", &[]).await.status, 403);
    assert!(admin.is_in().await);
    assert_eq!(world.database.count("operator").await, 1);
}

#[tokio::test]
async fn secrets_are_neither_stored_nor_printed() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    let secret = person.authenticator.as_ref().unwrap();
    let rows = world
        .database
        .texts(
            "select row_to_json(o)::text from operator o union all select row_to_json(s)::text from operator_session s
             union all select row_to_json(c)::text from operator_recovery_code c union all select row_to_json(d)::text from operator_device d
             union all select row_to_json(i)::text from operator_invitation i union all select row_to_json(a)::text from home_audit a",
        )
        .await
        .join("\n");
    assert!(rows.contains("$argon2id$v=19$m=19456,t=2,p=1$"), "{rows}");
    let hex = secret.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let (session, device) = (person.cookie("__Host-console").unwrap(), person.cookie("__Host-console-device").unwrap());
    for kept in [
        PASSWORD,
        secret.text().expose_secret(),
        &hex,
        &session,
        &device,
        &person.recovery_codes[0],
        &person.recovery_codes[0].replace('-', ""),
    ] {
        assert!(!rows.contains(kept), "{kept} is stored");
    }
    assert_eq!(person.enters(PASSWORD).await.location, "/sign-in/code");
    let half = HalfSignIn::open(&world.app, &person.cookie("__Host-console-step").unwrap()).unwrap();
    let printed = format!("{secret:?} {half:?}");
    assert!(!printed.contains(secret.text().expose_secret()) && !printed.contains(&hex), "{printed}");
}

#[tokio::test]
async fn what_is_over_is_forgotten() {
    let world = World::new().await;
    let person = world.console(Role::Support).await;
    person.enters("not the password").await;
    let tables = ["operator_session", "operator_device", "operator_invitation", "sign_in_trouble"];
    let count = async || {
        let mut counts = Vec::new();
        for table in tables {
            counts.push(world.database.count(table).await);
        }
        counts
    };
    assert_eq!(count().await, [1, 1, 1, 1]);
    let after = async |hours: u64| {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap());
        count().await
    };
    assert_eq!(after(23).await, [1, 1, 1, 1]);
    assert_eq!(after(2).await, [1, 1, 1, 0], "failed tries are forgotten after a day");
    assert_eq!(after(30 * 24 - 25 + 12).await, [0, 1, 1, 0], "sessions 30 days after their end");
    assert_eq!(after(72).await, [0, 1, 0, 0], "links 30 days after theirs");
    assert_eq!(after(180 * 24).await, [0, 0, 0, 0], "browsers after 180 days");
    let written = world.database.count("home_audit").await;
    assert!(written > 0);
    // The database deletes nothing that is younger by its own clock, whatever a node says.
    world.time_passes(Duration::from_hours(2 * 365 * 24));
    for (age, kept) in [("interval '7 years' - interval '1 hour'", written), ("interval '7 years' + interval '1 hour'", 0)] {
        world.database.home().execute_without_triggers("home_audit", &format!("update home_audit set done_at = now() - ({age})")).await;
        forget_outdated(&world.app).await.unwrap();
        assert_eq!(world.database.count("home_audit").await, kept, "after {age}");
    }
}
