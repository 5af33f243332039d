//! The service's own measurement of its pages: the histogram of its metrics.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context as _, ensure};

use crate::orders::load::Connection;

/// The times of the portal's pages by route: requests up to each bound in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerTime(BTreeMap<String, Vec<(f64, f64)>>);

impl ServerTime {
    /// Reads the metrics at the service's admin address.
    pub(super) async fn read(admin: SocketAddr) -> anyhow::Result<Self> {
        let mut connection = Connection::open(admin).await.context("the metrics cannot be reached")?;
        let status = connection.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        ensure!(status == Some(200), "the metrics were answered with {status:?}");
        Ok(Self::parse(&String::from_utf8_lossy(connection.body())))
    }

    fn parse(metrics: &str) -> Self {
        let mut routes: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for line in metrics.lines() {
            let Some((_, rest)) = line.split_once("http_request_seconds_bucket{") else { continue };
            let Some((labels, count)) = rest.rsplit_once("} ") else { continue };
            let label = |name: &str| Some(labels.split_once(&format!("{name}=\""))?.1.split_once('"')?.0);
            let Some((route, bound)) = label("route").filter(|route| route.starts_with("/r/")).zip(label("le")) else { continue };
            let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap_or_default() };
            routes.entry(route.to_owned()).or_default().push((bound, count.parse().unwrap_or_default()));
        }
        Self(routes)
    }

    /// The requests since `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        let earlier = |route: &str, at: usize| before.0.get(route).and_then(|of| of.get(at)).map_or(0.0, |(_, count)| *count);
        let of = |(route, counts): (&String, &Vec<(f64, f64)>)| {
            let counts = counts.iter().enumerate().map(|(at, (bound, count))| (*bound, count - earlier(route, at)));
            (route.clone(), counts.collect())
        };
        Self(self.0.iter().map(of).collect())
    }

    /// The routes with requests.
    pub(super) fn routes(&self) -> impl Iterator<Item = (&str, Self)> {
        let of = |(route, counts): (&String, &Vec<(f64, f64)>)| Self(BTreeMap::from([(route.clone(), counts.clone())]));
        self.0.iter().map(move |entry| (entry.0.as_str(), of(entry))).filter(|(_, of)| of.count() > 0.0)
    }

    /// The number of requests.
    pub(super) fn count(&self) -> f64 {
        self.sums().last().map_or(0.0, |(_, count)| *count)
    }

    /// The time in milliseconds within which `share` of the requests were answered, interpolated between bounds.
    pub(super) fn percentile(&self, share: f64) -> f64 {
        let wanted = self.count() * share;
        let (mut from, mut below) = (0.0, 0.0);
        for (bound, count) in self.sums() {
            if count >= wanted && bound.is_finite() {
                let part = if count > below { (wanted - below) / (count - below) } else { 1.0 };
                return (from + (bound - from) * part) * 1_000.0;
            }
            if bound.is_finite() {
                (from, below) = (bound, count);
            }
        }
        from * 1_000.0
    }

    /// Requests of all routes up to each bound.
    fn sums(&self) -> Vec<(f64, f64)> {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for counts in self.0.values() {
            for (at, (bound, count)) in counts.iter().enumerate() {
                match sums.get_mut(at) {
                    Some((_, sum)) => *sum += count,
                    None => sums.push((*bound, *count)),
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = r#"
http_request_seconds_bucket{le="0.001",route="/r/{merchant}"} 10
http_request_seconds_bucket{le="0.01",route="/r/{merchant}"} 20
http_request_seconds_bucket{le="+Inf",route="/r/{merchant}"} 20
http_request_seconds_bucket{le="0.001",route="/v1/returns"} 7
http_request_seconds_bucket{le="0.001",route="/r/{merchant}/items"} 0
http_request_seconds_bucket{le="0.01",route="/r/{merchant}/items"} 20
http_request_seconds_bucket{le="+Inf",route="/r/{merchant}/items"} 20
"#;

    #[test]
    fn the_times_of_pages_are_read_from_the_metrics() {
        let all = ServerTime::parse(METRICS);
        assert!((all.count() - 40.0).abs() < 1e-9);
        assert!((all.percentile(0.25) - 1.0).abs() < 1e-9);
        assert!((all.percentile(0.625) - 5.5).abs() < 1e-9, "half way between the bounds");
        assert_eq!(all.routes().count(), 2);
        assert_eq!(all.since(&all).routes().count(), 0);
        assert_eq!(all.since(&ServerTime::default()), all);
    }
}
