//! The console's pages on the installation: whether it is sound, limits and clock, and who changed what.

use domain::merchants::operator::Role;

use crate::world::World;
use crate::world::console::between;

#[tokio::test]
async fn system_shows_checks_limits_keys_and_the_clock_and_changes_what_can_be_changed() {
    let world = World::new().await;
    let manager = world.console(Role::Manager).await;
    let page = manager.get("/system").await.page();
    for shown in
        ["up to date", "Requests of one address within a minute", "No process delivers", "0s ahead of real time", "<code>sandbox</code>"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    let too_high = manager.post("/system/limits/requests-per-minute", &[("value", "1000000")]).await.page();
    assert!(too_high.contains("requests-per-minute can be at most"), "{too_high}");
    for (value, shown) in [("0", "a limit must be at least 1"), ("many", "A limit is a whole number.")] {
        assert!(manager.post("/system/limits/requests-per-minute", &[("value", value)]).await.page().contains(shown), "{value}");
    }
    assert_eq!(manager.post("/system/limits/requests-per-minute", &[("value", "100")]).await.status, 303);
    let changed = manager.get("/system?done=limit").await.page();
    assert!(changed.contains("<td class=\"n\" data-l=\"In force\">100</td>"), "{changed}");
    assert_eq!(manager.post("/system/limits/requests-per-minute", &[("value", "")]).await.status, 303);
    assert!(!manager.get("/system").await.page().contains("data-l=\"In force\">100</td>"));
    assert_eq!(manager.get("/system/limits/nonsense").await.status, 404);

    assert!(manager.post("/system/clock", &[("by", "backwards")]).await.page().contains("aria-invalid"));
    let before = world.app.now();
    assert_eq!(manager.post("/system/clock", &[("by", "6h")]).await.status, 303);
    assert!(world.app.now() - before >= chrono::TimeDelta::hours(6));
    manager.signs_in().await;
    assert!(manager.get("/system").await.page().contains("6h ahead of real time, moved"));
    let moved = manager.get("/audit?what=clock").await.page();
    assert!(moved.contains("clock.moved") && moved.contains("6h, to 6h ahead"), "{moved}");
}

#[tokio::test]
async fn carrier_accounts_stand_with_whether_labels_can_be_bought() {
    let world = World::new().await;
    let viewer = world.console(Role::Viewer).await;
    assert!(viewer.get("/system/carriers").await.page().contains("No merchant has a carrier account"));
    let carried = world.shop_with_a_carrier("acme").await;
    let page = viewer.get("/system/carriers").await.page();
    assert!(page.contains("/merchants/acme") && page.contains(">Good<") && !page.contains(">Failing<"), "{page}");
    carried.has_a_return("A-1", 1).await;
    let told = "insert into endpoint_notice (merchant_id, endpoint_id, sequence, failing_since)
        select merchant_id, endpoint_id, 1, '2026-03-01T12:00:00Z' from endpoint where interface = 'label'";
    sqlx::raw_sql(told).execute(&mut world.database.connect().await).await.unwrap();
    let page = viewer.get("/system/carriers").await.page();
    assert!(page.contains(">Failing<") && page.contains("1 shown"), "{page}");
}

#[tokio::test]
async fn every_table_stands_with_what_ends_its_rows() {
    let world = World::new().await;
    let page = world.console(Role::Viewer).await.get("/system/retention").await.page();
    for table in world.database.texts("select relname::text from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace").await {
        let row = between(&page, &format!("<code>{table}</code>"), "</tr>");
        assert!(!row.contains(r#"class="wide"></td>"#), "{table}: {row}");
    }
    assert!(page.contains("with its week, 30 to 37 days later"), "{page}");
}

#[tokio::test]
async fn whoever_may_only_read_sees_the_system_without_its_levers() {
    let world = World::new().await;
    let viewer = world.console(Role::Viewer).await;
    let page = viewer.get("/system").await.page();
    assert!(!page.contains("/system/limits/") && !page.contains("/system/clock") && !page.contains("href=\"/audit\""), "{page}");
    assert_eq!(viewer.get("/audit").await.status, 403);
}

#[tokio::test]
async fn the_audit_is_found_by_merchant_person_action_and_time_and_read_by_other_programs() {
    let world = World::new().await;
    world.merchant("acme").await;
    world.merchant("other").await;
    let manager = world.console(Role::Manager).await;
    manager.post("/merchants/acme/pause", &[("sure", "yes")]).await;
    world.time_passes(std::time::Duration::from_mins(1));
    assert_eq!(manager.post("/system/limits/messages-in-flight", &[("value", "3")]).await.status, 303);

    let lines = async |query: &str| -> Vec<serde_json::Value> {
        let file = manager.get(&format!("/audit.ndjson?{query}")).await;
        assert_eq!(file.headers["content-type"], "application/x-ndjson");
        file.page().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = lines("").await;
    assert_eq!((&all[0]["action"], &all[0]["merchant"]), (&"limit.lowered".into(), &serde_json::Value::Null), "{all:?}");
    assert!(all[0]["actor"].as_str().unwrap().starts_with("operator:"), "{all:?}");
    assert_eq!(all[0]["detail"], "messages-in-flight to 3");
    let times: Vec<&str> = all.iter().map(|line| line["at"].as_str().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] >= pair[1]), "newest first: {times:?}");

    assert_eq!((&all[0]["before"]["messages-in-flight"], &all[0]["after"]["messages-in-flight"]), (&serde_json::Value::Null, &3.into()));
    for line in &all {
        let lengths = ["hash", "previous_hash"].map(|name| line[name].as_str().unwrap().len());
        assert!(lengths == [64, 64] || line["sequence"] == 1 && lengths == [64, 0], "a SIEM can follow the chain: {line}");
    }

    let of_acme = lines("merchant=acme").await;
    assert!(!of_acme.is_empty() && of_acme.iter().all(|line| line["merchant"] == "acme"), "{of_acme:?}");
    let paused = lines("merchant=acme&what=PAUSED").await;
    assert_eq!(paused.len(), 1, "{of_acme:?}");
    assert_eq!(lines("who=nobody-at-all").await.len(), 0);
    assert_eq!(lines("merchant=acme&since=2030-01-01T00:00").await.len(), 0);
    assert_eq!(manager.get("/audit.ndjson?merchant=nobody").await.status, 422);
    let page = manager.get("/audit?what=limit").await.page();
    assert!(page.contains("messages-in-flight to 3") && !page.contains("merchant.paused"), "{page}");
}

#[tokio::test]
async fn a_long_audit_is_read_page_by_page_without_gap_or_repeat() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    let insert = "insert into audit (merchant_id, audit_id, actor, action, detail, done_at)
        select $1, (lpad(to_hex(1700000000000 + number), 12, '0') || '70008000000000000000')::uuid, 'cli:test', 'thing.done', number::text,
            '2026-01-01'::timestamptz + make_interval(secs => number / 2)
        from generate_series(1, 120) as number";
    sqlx::query(insert).bind(merchant.id.0).execute(&mut connection).await.unwrap();
    let manager = world.console(Role::Manager).await;
    for start in ["/audit?what=thing", "/audit?what=thing&merchant=acme"] {
        let (mut seen, mut at) = (Vec::new(), Some(start.to_owned()));
        while let Some(address) = at {
            let page = manager.get(&address).await.page();
            seen.extend(page.split("class=\"wide detail\">").skip(1).map(|rest| rest.split('<').next().unwrap().parse::<i64>().unwrap()));
            let older = page.split("<a href=\"/audit?").find(|rest| rest.contains(">Older<")).map(|rest| rest.split('"').next().unwrap());
            at = older.map(|query| format!("/audit?{}", query.replace("&#38;", "&").replace("&amp;", "&")));
        }
        assert_eq!(seen, (1..=120).rev().collect::<Vec<i64>>(), "{start}");
    }
}
