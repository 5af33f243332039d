//! Where the links of the repository's documents lead when the program serves them.

use super::guides::GUIDES;

/// A file that the documents link to, which is served as it is.
pub(super) struct File {
    /// The path that the documents give.
    linked: &'static str,
    /// The name below `/docs/files`.
    pub(super) name: &'static str,
    pub(super) media_type: &'static str,
    pub(super) bytes: &'static [u8],
}

const PLAIN: &str = "text/plain; charset=utf-8";

macro_rules! file {
    ($linked:literal, $name:literal, $media_type:expr) => {
        File { linked: $linked, name: $name, media_type: $media_type, bytes: include_bytes!(concat!("../../../../../docs/", $linked)) }
    };
}

/// Every such file.
pub(super) const FILES: &[File] = &[
    file!("samples/exchange_server.py", "exchange_server.py", PLAIN),
    file!("samples/returns_button.py", "returns_button.py", PLAIN),
    file!("../config.default.toml", "config.default.toml", PLAIN),
    file!("../ops/haproxy.cfg", "haproxy.cfg", PLAIN),
    file!("../ops/alarms.yml", "alarms.yml", PLAIN),
    file!("../ops/grafana-dashboard.json", "grafana-dashboard.json", "application/json"),
    file!("pictures/console-today.png", "console-today.png", "image/png"),
    file!("pictures/console-failures.png", "console-failures.png", "image/png"),
    file!("pictures/console-return.png", "console-return.png", "image/png"),
    file!("pictures/console-job.png", "console-job.png", "image/png"),
];

/// Where the target of a link is served. None for what is only in the repository, such as decisions and sources: the link's text
/// stays, without a link.
pub(super) fn resolve(target: &str) -> Option<String> {
    if target.starts_with('#') || target.starts_with("https://") || target.starts_with("http://") {
        return Some(target.to_owned());
    }
    let (file, anchor) = target.split_once('#').map_or((target, String::new()), |(file, anchor)| (file, format!("#{anchor}")));
    if file == "openapi.json" {
        return Some("/openapi.json".to_owned());
    }
    if let Some(slug) = file.strip_suffix(".md").filter(|slug| GUIDES.iter().any(|guide| guide.slug == *slug)) {
        return Some(format!("/docs/{slug}{anchor}"));
    }
    FILES.iter().find(|known| known.linked == file).map(|known| format!("/docs/files/{}", known.name))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::docs::markdown::render;

    #[test]
    fn links_lead_to_pages_files_and_elsewhere() {
        for (target, served) in [
            ("orders.md", Some("/docs/orders")),
            ("orders.md#a-token", Some("/docs/orders#a-token")),
            ("#a-token", Some("#a-token")),
            ("openapi.json", Some("/openapi.json")),
            ("../config.default.toml", Some("/docs/files/config.default.toml")),
            ("https://example.com/x", Some("https://example.com/x")),
            ("adr/0001-postgresql-is-the-engine.md", None),
            ("../ARCHITECTURE.md", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(resolve(target).as_deref(), served, "{target}");
        }
    }

    /// A page that is new in the repository must be served, or be for developers.
    #[test]
    fn only_what_is_for_developers_is_not_served() {
        let left_out = RefCell::new(BTreeSet::new());
        for guide in GUIDES {
            render(guide.markdown, &|target| {
                let served = resolve(target);
                if served.is_none() {
                    left_out.borrow_mut().insert(target.split('#').next().unwrap().to_owned());
                }
                served
            });
        }
        let known = ["README.md", "contract.md", "coverage.md", "proof.md", "walkthroughs.md", "releasing.md", "admin-openapi.json"];
        let strange: Vec<String> = left_out
            .into_inner()
            .into_iter()
            .filter(|target| !known.contains(&target.as_str()))
            .filter(|target| !target.starts_with("adr/") && !target.starts_with("../"))
            .collect();
        assert_eq!(strange, Vec::<String>::new());
    }
}
