//! The URL template of an endpoint for variants, with a placeholder for the variant identifier.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::delivery::guard::{Guard, NotAllowed, Target};

/// The placeholder for the variant identifier.
pub const PLACE: &str = "{variant_identifier}";
/// The placeholder as it appears in the path of a parsed URL.
const PLACE_IN_PATH: &str = "%7Bvariant_identifier%7D";

/// Everything but the unreserved characters of a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The reasons a URL cannot be used as a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTemplate {
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("the URL must contain {PLACE} exactly once, in its path, as in https://api.example.com/sku/{PLACE}/variants")]
    NoPlace,
}

/// The reasons there is no URL for an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoTarget {
    /// The template itself may not be called.
    NotAllowed(NotAllowed),
    /// The identifier is too long, or would change the path.
    Misfit,
}

/// Checks that `url` can be used as a template, before it is saved.
pub fn check(guard: &Guard, url: &str) -> Result<(), NoTemplate> {
    let target = guard.check_url(url)?;
    let once = |text: &str, part: &str| text.matches(part).count() == 1;
    if once(url, PLACE) && once(target.uri().path(), PLACE_IN_PATH) { Ok(()) } else { Err(NoTemplate::NoPlace) }
}

/// The target of a query, or the guard's refusal of it. The error says that the identifier does not fit.
pub(in crate::delivery) fn target_of(guard: &Guard, url: &str, identifier: &str) -> Result<Result<Target, NotAllowed>, String> {
    match target(guard, url, identifier) {
        Ok(target) => Ok(Ok(target)),
        Err(NoTarget::NotAllowed(refusal)) => Ok(Err(refusal)),
        Err(NoTarget::Misfit) => Err("the variant identifier does not fit into the endpoint's URL".to_owned()),
    }
}

/// The URL for an identifier. The identifier becomes part of one path segment, so it cannot lead to another path.
fn target(guard: &Guard, url: &str, identifier: &str) -> Result<Target, NoTarget> {
    let template = guard.check_url(url).map_err(NoTarget::NotAllowed)?;
    let step = utf8_percent_encode(identifier, ENCODED).to_string();
    let target = guard.check_url(&url.replace(PLACE, &step)).map_err(|_| NoTarget::Misfit)?;
    // Parsing resolves `.` and `..` in a path, and the result is not what was meant.
    let meant = template.uri().path().replace(PLACE_IN_PATH, &step);
    if target.uri().path() == meant { Ok(target) } else { Err(NoTarget::Misfit) }
}

#[cfg(test)]
mod tests {
    use domain::node::mode::Mode;
    use proptest::prelude::*;

    use super::*;

    const URL: &str = "https://api.example.com/v1/sku/{variant_identifier}/variants?full=1";

    fn guard() -> Guard {
        Guard::new(Vec::new(), Mode::Production).unwrap()
    }

    fn path(identifier: &str) -> Result<String, NoTarget> {
        target(&guard(), URL, identifier).map(|target| target.uri().path_and_query().unwrap().to_string())
    }

    #[test]
    fn an_identifier_is_one_step_of_the_path_whatever_is_in_it() {
        for (identifier, step) in [
            ("V-1_a.b~c", "V-1_a.b~c"),
            ("a/b", "a%2Fb"),
            ("a b", "a%20b"),
            ("a%2Fb", "a%252Fb"),
            ("%2e%2e", "%252e%252e"),
            ("../../admin", "..%2F..%2Fadmin"),
            ("a?b#c", "a%3Fb%23c"),
            ("a\\b", "a%5Cb"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("a\r\nb\0", "a%0D%0Ab%00"),
            ("...", "..."),
            ("{variant_identifier}", "%7Bvariant_identifier%7D"),
        ] {
            assert_eq!(path(identifier), Ok(format!("/v1/sku/{step}/variants?full=1")), "{identifier}");
        }
        assert_eq!((path("."), path("..")), (Err(NoTarget::Misfit), Err(NoTarget::Misfit)));
        assert_eq!(path(&"ä".repeat(400)), Err(NoTarget::Misfit), "no URL is that long");
    }

    #[test]
    fn part_of_a_step_does_not_lead_elsewhere_either() {
        let half = |identifier| target(&guard(), "https://api.example.com/sku/.{variant_identifier}/variants", identifier).is_ok();
        assert!(half("V-1") && half("..") && !half(".") && !half(""));
    }

    #[test]
    fn a_url_says_once_where_the_identifier_goes() {
        let check = |url: &str| check(&guard(), url);
        assert_eq!(check(URL), Ok(()));
        assert_eq!(check("https://api.example.com/variants-of-{variant_identifier}.json"), Ok(()));
        for url in [
            "https://api.example.com/sku/variants",
            "https://api.example.com/sku/%7Bvariant_identifier%7D/variants",
            "https://api.example.com/sku/{variant_identifier}/{variant_identifier}",
            "https://api.example.com/variants?of={variant_identifier}",
            "https://api.example.com/{variant_identifier}/variants?of={variant_identifier}",
        ] {
            assert_eq!(check(url), Err(NoTemplate::NoPlace), "{url}");
        }
        for url in [
            "https://{variant_identifier}.example.com/",
            "http://api.example.com/{variant_identifier}",
            "https://10.0.0.1/{variant_identifier}",
        ] {
            assert!(matches!(check(url), Err(NoTemplate::NotAllowed(_))), "{url}");
        }
    }

    proptest! {
        #[test]
        fn the_merchant_reads_the_identifier_that_was_meant(identifier in ".{1,60}") {
            prop_assume!(!matches!(identifier.as_str(), "." | ".."));
            let target = target(&guard(), URL, &identifier).unwrap();
            let steps: Vec<&str> = target.uri().path().split('/').collect();
            prop_assert_eq!((steps.len(), steps[1], steps[2], steps[4]), (5, "v1", "sku", "variants"));
            prop_assert_eq!(percent_encoding::percent_decode_str(steps[3]).decode_utf8().unwrap(), identifier.as_str());
            prop_assert_eq!(target.uri().query(), Some("full=1"));
            prop_assert_eq!(target.uri().host(), Some("api.example.com"));
        }
    }
}
