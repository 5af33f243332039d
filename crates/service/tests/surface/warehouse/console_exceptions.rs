//! Receiving exceptions as the console's work list.

use domain::merchants::operator::Role;

use crate::world::console::Console;
use crate::world::{World, scan, the_unit};

/// The address of the exception of a unit, as the list names it.
async fn exception(console: &Console<'_>, unit: &str) -> String {
    let page = console.get("/exceptions").await.page();
    let row = page.split("<tr data-row>").find(|row| row.contains(&format!("<code>{unit}</code>"))).unwrap();
    row.split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn an_exception_is_assigned_noted_and_resolved_and_each_step_names_the_person() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.scans(&[scan("A-9", "LP-1"), scan("A-9", "LP-2")]).await;
    let (support, viewer) = (world.console(Role::Support).await, world.console(Role::Viewer).await);
    let at = exception(&viewer, "LP-1").await;
    assert!(at.starts_with("/merchants/acme/exceptions/"), "{at}");
    let page = viewer.get(&at).await.page();
    assert!(page.contains("No such ASN was announced.") && !page.contains("Resolve…") && !page.contains("<textarea"), "{page}");
    assert_eq!(support.post(&at, &[("owner", support.email.as_str()), ("note", "Asked the warehouse <b>")]).await.location, at);
    let page = support.get(&at).await.page();
    assert!(
        page.contains("operator:support.one@ops.example.com assigned it to") && page.contains("Asked the warehouse &#60;b&#62;"),
        "{page}"
    );
    for (show, mine) in [("mine", true), ("unassigned", false), ("open", true)] {
        let list = support.get(&format!("/exceptions?show={show}")).await.page();
        assert_eq!(list.contains("<code>LP-1</code>"), mine, "{show}: {list}");
        assert_eq!(list.contains("<code>LP-2</code>"), show != "mine", "{show}: {list}");
    }
    assert!(support.get("/exceptions?show=mine").await.page().contains("Receiving exceptions that you look into: 1"));
    assert!(support.get("/exceptions?show=mine&merchant=acme").await.page().contains("<code>LP-1</code>"));
    assert!(support.get(&format!("{at}/resolve")).await.page().contains("Nothing happens until you press the button below."));
    let resolved = support.post(&format!("{at}/resolve"), &[("reason", "Sent back to the store.")]).await;
    assert_eq!(resolved.location, "/exceptions?resolved=true");
    let left = support.get("/exceptions").await.page();
    assert!(left.contains("Receiving exceptions: 1") && !left.contains("<code>LP-1</code>"), "{left}");
    assert!(support.get("/").await.page().contains("1 receiving exception"));
    for list in ["/exceptions?show=resolved", "/exceptions?show=resolved&merchant=acme"] {
        let page = viewer.get(list).await.page();
        assert!(
            page.contains("Sent back to the store.") && page.contains("<code>LP-1</code>") && !page.contains("<code>LP-2</code>"),
            "{page}"
        );
    }
    let audit = world.database.texts("select actor || ' ' || action from audit order by audit_id").await;
    for action in ["exception.assigned", "exception.noted", "exception.resolved"] {
        assert!(
            audit.iter().any(|row| row.contains(action) && row.contains("operator:support.one@ops.example.com")),
            "{action}: {audit:?}"
        );
    }
}

#[tokio::test]
async fn what_is_resolved_takes_notes_only_and_what_is_wrong_changes_nothing() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.scans(&[scan("A-9", "LP-1")]).await;
    let (support, viewer) = (world.console(Role::Support).await, world.console(Role::Viewer).await);
    let at = exception(&support, "LP-1").await;
    for (fields, words) in [
        ([("owner", "nobody@example.com"), ("note", "")], "that takes somebody who is enabled"),
        ([("owner", viewer.email.as_str()), ("note", "")], "that takes somebody who is enabled"),
        ([("owner", ""), ("note", " ")], "Nothing was changed"),
        ([("owner", ""), ("note", "a\0b")], "between 1 and 2000 characters"),
    ] {
        let refused = support.post(&at, &fields).await;
        assert!(refused.status == 422 && refused.text.contains(words), "{fields:?}: {}", refused.text);
    }
    let refused = support.post(&format!("{at}/resolve"), &[("reason", "")]).await;
    assert!(refused.status == 422, "a reason is needed: {}", refused.text);
    assert!(support.get(&at).await.page().contains("Nobody has worked on it yet."));
    // The merchant announces it after all, and the unit is scanned again.
    yard.merchant.announces("A-9", &[the_unit("LP-1")]).await;
    assert_eq!(yard.merchant.scans(&[scan("A-9", "LP-1")]).await, ["received 1"]);
    let late = support.post(&format!("{at}/resolve"), &[("reason", "Too late.")]).await;
    assert!(late.status == 409 && late.text.contains("because the unit arrived after all"), "{}", late.text);
    assert_eq!(support.get(&format!("{at}/resolve")).await.location, at);
    assert_eq!(support.post(&at, &[("note", "It came by another parcel.")]).await.status, 303);
    let page = support.get(&at).await.page();
    assert!(page.contains("It came by another parcel.") && page.contains("the unit arrived after all"), "{page}");
    assert_eq!(support.get("/merchants/acme/exceptions/00000000-0000-0000-0000-000000000000").await.status, 404);
    assert!(viewer.get("/exceptions?merchant=nobody").await.page().contains("There is no merchant with this handle."));
}
