//! Paths of the merchant: the token endpoint, and which path lies below which.

/// The path of the token endpoint.
pub const TOKEN_PATH: &str = "/oauth/token";

/// Returns whether this path is the token endpoint.
pub(super) fn is_token_endpoint(path: &str) -> bool {
    path.trim_end_matches('/') == TOKEN_PATH
}

/// Normalises a path for look-ups by removing the slash at its end; the root becomes empty.
pub(super) fn key(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// The path, its parent, and so on up to the root.
pub(super) fn upwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key(path)), |path| path.rfind('/').and_then(|slash| path.get(..slash)))
}

/// Returns whether `path` is `above` or lies below it.
pub(super) fn is_at(path: &str, above: &str) -> bool {
    path.strip_prefix(key(above)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_up_from_itself_to_the_root() {
        assert_eq!(upwards("/a/b/c").collect::<Vec<_>>(), ["/a/b/c", "/a/b", "/a", ""]);
        assert_eq!(upwards("/a/").collect::<Vec<_>>(), ["/a", ""]);
        assert_eq!(upwards("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_path_stands_for_itself_and_what_is_below_it() {
        assert!(is_at("/returns", "/returns"));
        assert!(is_at("/returns/1", "/returns/"));
        assert!(is_at("/returns", "/"));
        assert!(!is_at("/returns_portal", "/returns"));
        assert!(!is_at("/return", "/returns"));
    }
}
