//! Every route of the console with every role: nobody gets further than their role, and nothing is done for other sites.

use backhaul::http::console::{Guard, guards};
use domain::merchants::operator::Role;
use reqwest::Method;

use crate::world::World;

/// The fields of a form without any.
const NOTHING: [(&str, &str); 0] = [];

/// A path that fits a route: what stands in braces exists nowhere.
fn path(guard: &Guard) -> String {
    let part = |part: &str| match part {
        "{id}" | "{case}" | "{job}" | "{message}" => "01a1ded7-1fe3-71de-873c-99f8ac959092".to_owned(),
        "{interface}" => "rma".to_owned(),
        name if name.starts_with('{') => "nobody".to_owned(),
        other => other.to_owned(),
    };
    guard.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_asks_for_its_role_and_no_more() {
    let world = World::new().await;
    let routes = guards();
    assert!(routes.len() > 50, "{}", routes.len());
    let stranger = world.at_the_console();
    for route in &routes {
        let path = path(route);
        let post = route.method == Method::POST;
        let asked = if post { stranger.post(&path, &NOTHING).await } else { stranger.get(&path).await };
        if route.role.is_some() {
            assert_eq!(asked.status, 303, "{route:?}: {}", asked.text);
            assert!(asked.location.starts_with("/sign-in"), "{route:?} leads to {}", asked.location);
        } else {
            assert_ne!(asked.status, 500, "{route:?}");
        }
    }
    for role in [Role::Viewer, Role::Support, Role::Manager, Role::Admin] {
        // What ends the session of whoever asks comes last.
        let ends = |route: &&Guard| route.path.contains("sign-out") || route.path.contains("end-all");
        let person = world.console(role).await;
        for route in routes.iter().filter(|route| !ends(route)) {
            let Some(needed) = route.role else { continue };
            let path = path(route);
            let post = route.method == Method::POST;
            let asked = if post { person.post(&path, &NOTHING).await } else { person.get(&path).await };
            if role < needed {
                assert_eq!(asked.status, 403, "{role} at {route:?}: {}", asked.text);
                assert!(asked.text.contains("Your role does not allow this") && asked.text.contains(needed.as_str()), "{route:?}");
            } else {
                assert!(
                    ![401, 403, 500].contains(&asked.status) || post && asked.text.contains("This form was not accepted"),
                    "{role} at {route:?}: {} {}",
                    asked.status,
                    asked.text
                );
            }
        }
        for route in routes.iter().filter(ends) {
            let asked = person.post(&path(route), &NOTHING).await;
            assert!(asked.status == 303, "{role} at {route:?}: {}", asked.status);
        }
    }
}

#[tokio::test]
async fn no_other_site_can_send_a_form() {
    let world = World::new().await;
    let admin = world.console(Role::Admin).await;
    for route in guards().iter().filter(|route| route.method == Method::POST) {
        let asked = admin.posts_from_elsewhere(&path(route), &[]).await;
        assert_eq!(asked.status, 403, "{route:?}");
        assert!(asked.text.contains("This form was not accepted"), "{route:?}: {}", asked.text);
    }
    assert_eq!(admin.get("/").await.status, 200, "nothing has ended the session");
}

#[tokio::test]
async fn other_methods_and_paths_lead_nowhere() {
    let world = World::new().await;
    let viewer = world.console(Role::Viewer).await;
    assert_eq!(viewer.get("/nowhere").await.status, 404);
    assert_eq!(viewer.post("/help", &NOTHING).await.status, 404);
    assert_eq!(viewer.get("/merchants/no%00body").await.status, 404);
}
