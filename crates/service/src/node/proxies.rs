//! The check of proxies in front of the nodes.

use store::node::rates;

use crate::node::Node;
use crate::node::health::Check;

const NAME: &str = "proxies";

/// Checks that the proxies through which callers come are declared. Nothing if the database is unreachable, which another check
/// reports.
pub async fn examine(node: &Node) -> Option<Check> {
    let (found, http) = (rates::undeclared_proxies(node.home()).await.ok()?, &node.settings.http);
    let mend = "name its network in http.trusted_proxies, so that callers are told apart and limited each on their own";
    Some(if !found.is_empty() {
        Check::bad(NAME, format!("most requests come through {}, which http.trusted_proxies does not name", found.join(", ")), mend)
    } else if http.behind_tls_proxy && http.trusted_proxies.is_empty() {
        Check::bad(NAME, "http.behind_tls_proxy is set, but http.trusted_proxies names no proxy", mend)
    } else {
        Check::good(NAME, if http.trusted_proxies.is_empty() { "none" } else { "all that were seen are trusted" })
    })
}
