//! The return policy of a merchant in the operator's console: changed after a preview, tried on an order, and rolled back.

use std::time::Duration;

use backhaul::flow::returns::set_policy::{PolicyChange, set_policy};
use domain::merchants::operator::Role;

use crate::binary::{backhaul, out};
use crate::world::World;
use crate::world::console::{between, hidden_fields};

const AT: &str = "/merchants/acme/policy";
const CHANGE: &str = "/merchants/acme/policy/change";

/// The form as it is filled with the default policy, with other values for some fields.
fn form<'f>(others: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let filled = [
        ("seen", "0"),
        ("window_days", "30"),
        ("offer-mail-back", "yes"),
        ("place-mail-back", "1"),
        ("fee-mail-back", "0.00"),
        ("offer-express-returns", "yes"),
        ("place-express-returns", "2"),
        ("fee-express-returns", "0.00"),
        ("express_limit", "20"),
        ("reasons", "TOO_SMALL\r\nTOO_LARGE\r\nCHANGED_MIND\r\nNOT_AS_DESCRIBED\r\nDAMAGED\r\nWRONG_ITEM"),
        ("exchange_reasons", "TOO_SMALL\r\nTOO_LARGE"),
        ("gift_card_sku", ""),
        ("gift_card_bonus", ""),
        ("concept", ""),
        ("refund_closes", "all"),
        ("tags", ""),
    ];
    let kept = filled.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    kept.chain(others.iter().copied()).collect()
}

/// The days of the policy in force with its version, and those of the former ones with who made them.
async fn stored(world: &World) -> (Vec<String>, Vec<String>) {
    let in_force = world.database.texts("select version || ': ' || window_days || ' ' || changed_by from return_policy").await;
    let former = "select version || ': ' || window_days || ' ' || changed_by from former_policy order by version";
    (in_force, world.database.texts(former).await)
}

#[tokio::test]
async fn a_policy_is_changed_after_a_preview_and_can_be_rolled_back() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let default = console.get(AT).await.page();
    assert!(default.contains("the default: nothing was changed yet") && default.contains("30 days"), "{default}");
    let filled = console.get(CHANGE).await.page();
    assert!(filled.contains(r#"name="seen" value="0""#) && filled.contains("TOO_SMALL\nTOO_LARGE"), "{filled}");

    // The form as it is filled changes nothing.
    let same = console.post(CHANGE, &form(&[])).await;
    assert!(same.status == 422 && same.text.contains("Nothing differs from the policy in force."), "{}", same.text);
    let changed =
        form(&[("window_days", "45"), ("fee-mail-back", "4.99"), ("deducted-mail-back", "yes"), ("tags", "Clearance = final_sale")]);
    let preview = console.post(CHANGE, &changed).await.page();
    assert!(preview.contains(r#"<del class="del">30 days</del>"#) && preview.contains(r#"<ins class="ins">45 days</ins>"#), "{preview}");
    assert!(preview.contains("mail-back, 4.99 off the refund") && preview.contains("clearance = final_sale"), "{preview}");
    assert!(!preview.contains("Exchange offered for"), "only what differs: {preview}");
    let command = "backhaul policy set --merchant acme --window-days 45 --method mail-back:499:deducted --method express-returns \
                   --tag clearance=final_sale";
    assert!(preview.contains(command), "{preview}");
    assert_eq!(stored(&world).await, (vec![], vec![]), "a preview writes nothing");
    let saved = console.confirms(CHANGE, &changed).await;
    assert_eq!((saved.status, saved.location.as_str()), (303, AT), "{}", saved.text);
    let who = format!("operator:{}", console.email);
    assert_eq!(stored(&world).await, (vec![format!("1: 45 {who}")], vec![]));
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'policy.changed'").await;
    let detail = "window_days: 45; methods: mail-back:499:deducted, express-returns; tag clearance: final_sale";
    assert_eq!(audit, [format!("{who} {detail}")]);

    // The command line leaves its trace in the same place. What it leaves as it is, is no change.
    for days in ["60", "60"] {
        out(&backhaul(&world.database, &["policy", "set", "--merchant", "acme", "--window-days", days]));
    }
    assert_eq!(stored(&world).await, (vec!["2: 60 cli:tester".to_owned()], vec![format!("1: 45 {who}")]));
    let history = console.get(AT).await.page();
    let history = between(&history, r#"<h2 id="h-history">"#, "</table>");
    for told in ["cli:tester", &who, r#"<del class="del">45 days</del> <ins class="ins">60 days</ins>"#, "/merchants/acme/policy/0"] {
        assert!(history.contains(told), "{told} in {history}");
    }

    let former = console.get("/merchants/acme/policy/1").await.page();
    assert!(former.contains("/merchants/acme/policy/1/restore") && former.contains(r#"<ins class="ins">45 days</ins>"#), "{former}");
    let preview = console.get("/merchants/acme/policy/1/restore").await.page();
    assert!(preview.contains("back to policy 1?") && preview.contains("policy set --merchant acme --window-days 45<"), "{preview}");
    let restored = console.post(CHANGE, &hidden_fields(&preview)).await;
    assert_eq!((restored.status, restored.location.as_str()), (303, AT), "{}", restored.text);
    assert_eq!(stored(&world).await.0, [format!("3: 45 {who}")]);
    // Its policy is in force again.
    assert_eq!(console.get("/merchants/acme/policy/1/restore").await.status, 422);
    let preview = console.get("/merchants/acme/policy/0/restore").await.page();
    console.post(CHANGE, &hidden_fields(&preview)).await;
    assert_eq!(stored(&world).await.0, [format!("4: 30 {who}")]);
    let tags = world.database.texts("select cardinality(tags)::text from return_policy").await;
    assert_eq!(tags, ["0"], "the default has none");
    assert_eq!(console.get("/merchants/acme/policy/9").await.status, 404);
}

#[tokio::test]
async fn a_policy_that_somebody_else_changed_meanwhile_is_not_overwritten() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let preview = console.post(CHANGE, &form(&[("window_days", "45")])).await.page();
    out(&backhaul(&world.database, &["policy", "set", "--merchant", "acme", "--window-days", "60"]));
    let late = console.post(CHANGE, &hidden_fields(&preview)).await;
    assert!(late.status == 409 && late.text.contains("was changed while you had it open"), "{}", late.text);
    assert_eq!(stored(&world).await.0, ["1: 60 cli:tester"]);
}

#[tokio::test]
async fn a_form_that_is_wrong_keeps_what_was_typed() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let typed = form(&[("window_days", "0"), ("concept", "<b>Example Brand</b>"), ("exchange_reasons", "TORN")]);
    let wrong = console.post(CHANGE, &typed).await;
    assert_eq!(wrong.status, 422);
    for told in ["The return window must be 1 to 3,650 days.", "one of the reasons, or NOT_GIVEN", "&#60;b&#62;Example Brand"] {
        assert!(wrong.text.contains(told), "{told} in {}", wrong.text);
    }
    let torn = console.post(CHANGE, &form(&[("fee-mail-back", "4,99"), ("tags", "sale")])).await;
    assert!(torn.text.contains("must be an amount such as 4.99") && torn.text.contains("The tag “sale” cannot be read."), "{}", torn.text);
}

#[tokio::test]
async fn a_policy_is_tried_on_an_order_without_writing_anything() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 3).await;
    merchant.starts_a_return("A-1", 1).await;
    let written = async || world.database.texts("select (select count(*) from audit) || ' ' || (select count(*) from return_policy)").await;
    let before = written().await;

    let viewer = world.console(Role::Viewer).await;
    let page = viewer.get("/merchants/acme/policy?order=A-1").await.page();
    let tried = between(&page, "What can be returned of the order", "</table>");
    assert!(
        tried.contains("2 returnable until") && tried.contains("2026-03-21T09:00:00Z") && tried.contains("1 no: in a return already"),
        "{tried}"
    );
    assert!(!page.contains("With your changes") && !page.contains(CHANGE), "a viewer changes nothing");
    let none = viewer.get("/merchants/acme/policy?order=A-2").await.page();
    assert!(none.contains("There is no such order of"), "{none}");

    let manager = world.console(Role::Manager).await;
    let page = manager.post(CHANGE, &form(&[("window_days", "5"), ("try", "yes"), ("order", "A-1")])).await.page();
    let tried = between(&page, "What can be returned of the order", "</table>");
    assert!(
        tried.contains("With your changes") && tried.contains("2 no: the window ended") && tried.contains("2026-02-24T09:00:00Z"),
        "{tried}"
    );
    assert!(page.contains(r#"name="window_days" type="number" value="5""#), "what was typed stays: {page}");
    let page = manager.post(CHANGE, &form(&[("concept", "Example Brand"), ("try", "yes"), ("order", "A-1")])).await.page();
    assert!(between(&page, "What can be returned of the order", "</table>").contains("the same"), "{page}");
    assert_eq!(written().await, before);
}

#[tokio::test]
async fn former_policies_are_kept_as_long_as_the_audit() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let set = async |days: u16| {
        let change = PolicyChange { window_days: Some(days), ..PolicyChange::default() };
        set_policy(&world.app, "test", merchant.id, change).await.unwrap();
    };
    set(40).await;
    set(41).await;
    world.time_passes(Duration::from_hours(24 * 365 * 4));
    set(42).await;
    assert_eq!(stored(&world).await.1, ["1: 40 test", "2: 41 test"]);
    world.time_passes(Duration::from_hours(24 * 366 * 3));
    set(43).await;
    assert_eq!(stored(&world).await.1, ["2: 41 test", "3: 42 test"]);
    let console = world.console(Role::Viewer).await;
    let page = console.get(AT).await.page();
    assert!(page.contains("the one before is not kept"), "{page}");
}

#[tokio::test]
async fn a_long_history_has_pages() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for days in 31..=53 {
        let change = PolicyChange { window_days: Some(days), ..PolicyChange::default() };
        set_policy(&world.app, "test", merchant.id, change).await.unwrap();
    }
    let console = world.console(Role::Viewer).await;
    let first = console.get(AT).await.page();
    assert_eq!(first.matches("<tr data-row>").count(), 20);
    assert!(first.contains("/policy?before=4\">Older") && !first.contains("not kept"), "{first}");
    let rest = console.get("/merchants/acme/policy?before=4").await.page();
    // Three changes, and the default before them.
    assert_eq!(rest.matches("<tr data-row>").count(), 4);
    assert!(!rest.contains("Older"), "{rest}");
}
