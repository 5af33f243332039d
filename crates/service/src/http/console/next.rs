//! The page that somebody asked for before they had to sign in. It is a page of this console and nothing else.

use url::Url;

/// The longest path that is remembered.
const LONGEST: usize = 2_000;

/// The path and query of a page of this console; the first page for anything else, so that no link leads elsewhere through us.
pub(super) fn local(text: &str) -> String {
    local_path(text).unwrap_or_else(|| "/".to_owned())
}

fn local_path(text: &str) -> Option<String> {
    let is_plain = text.len() <= LONGEST && text.starts_with('/') && !text.contains(|c: char| c.is_control() || c == '\\');
    let base = Url::parse("http://console.invalid/").ok().filter(|_| is_plain)?;
    // Parsed as browsers parse it, it must stay where it is.
    let url = base.join(text).ok().filter(|url| url.origin() == base.origin() && url.username().is_empty())?;
    let path = url.path();
    let leads_on = !path.starts_with("//") && !path.starts_with("/sign-") && !path.starts_with("/invitation");
    leads_on.then(|| url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_console_are_remembered() {
        for page in ["/", "/failures?merchant=acme&tz=utc", "/messages/0193", "/a%20b"] {
            assert_eq!(local(page), page);
        }
        for elsewhere in [
            "",
            "failures",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example/",
            "http:evil.example",
            "javascript:alert(1)",
            "/\tevil",
            "/\n/evil.example",
            "/.//evil.example",
            "/x/..//evil.example",
            "/sign-in",
            "/sign-out",
            "/invitation/x",
            &format!("/{}", "a".repeat(2_000)),
        ] {
            assert_eq!(local(elsewhere), "/", "{elsewhere:?}");
        }
        assert_eq!(local("/failures#part"), "/failures");
    }
}
