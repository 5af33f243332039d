//! How a person sees a page: at which time, in which zone, and where they are.

use axum::extract::Request;
use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use chrono_tz::Tz;

use super::stamp::Stamp;
use crate::app::App;
use crate::http::pages::cookie;

/// The cookie with the browser's zone, which the script writes.
const ZONE: &str = "console-zone";

/// The view of one page.
#[derive(Clone)]
pub(super) struct View {
    pub(super) now: DateTime<Utc>,
    zone: Tz,
    /// The address asks for UTC.
    is_utc: bool,
    /// The path and query of the page.
    here: String,
}

impl View {
    pub(super) fn of(app: &App, request: &Request) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let is_utc = query.split('&').any(|field| field == "tz=utc");
        let theirs = cookie::find(request.headers(), ZONE).and_then(|name| name.replace("%2F", "/").parse().ok());
        let here = request.uri().path_and_query().map_or("/", |here| here.as_str()).to_owned();
        Self { now: app.now(), zone: if is_utc { Tz::UTC } else { theirs.unwrap_or(Tz::UTC) }, is_utc, here }
    }

    /// The path and query of the page.
    pub(super) fn here(&self) -> &str {
        &self.here
    }

    /// The name of the zone, and the offset.
    pub(super) fn zone_name(&self) -> String {
        let name = self.zone.name();
        let city = name.rsplit('/').next().unwrap_or(name).replace('_', " ");
        if self.zone == Tz::UTC {
            return "UTC".to_owned();
        }
        let offset = self.now.with_timezone(&self.zone).format("%:z").to_string();
        let offset = offset.strip_suffix(":00").unwrap_or(&offset).replacen('-', "−", 1);
        let (sign, digits) = offset.split_at(offset.chars().next().map_or(0, char::len_utf8));
        format!("{city}, UTC{sign}{}", digits.trim_start_matches('0'))
    }

    /// The same page with its times in UTC, or again in the person's zone.
    pub(super) fn other_zone(&self) -> String {
        let (path, query) = self.here.split_once('?').unwrap_or((&self.here, ""));
        let rest = query.split('&').filter(|field| !field.is_empty() && *field != "tz=utc");
        let fields: Vec<&str> = rest.chain((!self.is_utc).then_some("tz=utc")).collect();
        if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
    }

    pub(super) fn is_utc(&self) -> bool {
        self.is_utc
    }

    /// A time to the minute, with its day unless that is today.
    pub(super) fn time(&self, at: DateTime<Utc>) -> Stamp {
        self.stamp(at, "%H:%M")
    }

    /// A time to the second, for logs.
    pub(super) fn log_time(&self, at: DateTime<Utc>) -> Stamp {
        self.stamp(at, "%H:%M:%S")
    }

    /// A day.
    pub(super) fn day(&self, at: DateTime<Utc>) -> Stamp {
        let local = at.with_timezone(&self.zone);
        let this_year = local.year() == self.now.with_timezone(&self.zone).year();
        Stamp::new(at, local.format(if this_year { "%-d %b" } else { "%-d %b %Y" }).to_string())
    }

    /// This moment in words, such as `Tuesday, 17 November, 09:30`.
    pub(super) fn today(&self) -> String {
        self.now.with_timezone(&self.zone).format("%A, %-d %B, %H:%M").to_string()
    }

    fn stamp(&self, at: DateTime<Utc>, clock: &str) -> Stamp {
        let (local, now) = (at.with_timezone(&self.zone), self.now.with_timezone(&self.zone));
        let time = local.format(clock);
        let text = if local.date_naive() == now.date_naive() {
            time.to_string()
        } else if local.year() == now.year() {
            format!("{} {time}", local.format("%-d %b"))
        } else {
            format!("{} {time}", local.format("%-d %b %Y"))
        };
        Stamp::new(at, text)
    }

    /// The time that has passed since `at`, in the two largest units.
    pub(super) fn since(&self, at: DateTime<Utc>) -> String {
        span(self.now - at)
    }

    /// A time with what has passed since, such as `01:42 (7 h 48 min)`.
    pub(super) fn ago(&self, at: DateTime<Utc>) -> Stamp {
        let since = self.since(at);
        self.time(at).followed_by(&format!(" ({since})"))
    }

    /// The zone's local time of a form's field such as `2026-11-17T09:30`, in UTC.
    pub(super) fn parse(&self, local: &str) -> Option<DateTime<Utc>> {
        let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"];
        let naive = formats.iter().find_map(|format| chrono::NaiveDateTime::parse_from_str(local, format).ok());
        let naive = naive.or_else(|| chrono::NaiveDate::parse_from_str(local, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0));
        match naive {
            Some(naive) => naive.and_local_timezone(self.zone).earliest().map(|time| time.with_timezone(&Utc)),
            None => DateTime::parse_from_rfc3339(local).ok().map(|time| time.with_timezone(&Utc)),
        }
    }

    /// The time of a filter; a filter that is set and cannot be read is a fault.
    pub(super) fn parse_filter(&self, local: &str, fault: &'static str, faults: &mut Vec<&'static str>) -> Option<DateTime<Utc>> {
        let read = self.parse(local);
        if read.is_none() && !local.is_empty() {
            faults.push(fault);
        }
        read
    }

    /// A time as a form's field holds it.
    pub(super) fn field(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.zone).format("%Y-%m-%dT%H:%M").to_string()
    }
}

/// A span of time in its two largest units, such as `7 h 48 min`.
pub(super) fn span(span: TimeDelta) -> String {
    let seconds = span.num_seconds().max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let days_in_words = if days == 1 { "1 day".to_owned() } else { format!("{days} days") };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) if minutes < 10 && seconds % 60 > 0 => format!("{minutes} min {} s", seconds % 60),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, 0) => format!("{hours} h"),
        (0, ..) => format!("{hours} h {minutes} min"),
        (1, 1.., _) => format!("1 day {hours} h"),
        _ => days_in_words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_two_largest_units() {
        let told = |seconds| span(TimeDelta::seconds(seconds));
        assert_eq!(told(-5), "0 s");
        assert_eq!(told(42), "42 s");
        assert_eq!(told(190), "3 min 10 s");
        assert_eq!(told(46 * 60 + 10), "46 min");
        assert_eq!(told(3600), "1 h");
        assert_eq!(told(7 * 3600 + 48 * 60), "7 h 48 min");
        assert_eq!(told(86_400), "1 day");
        assert_eq!(told(86_400 + 7200), "1 day 2 h");
        assert_eq!(told(9 * 86_400 + 7200), "9 days");
    }

    fn view(here: &str) -> View {
        View {
            now: "2026-11-17T15:30:00Z".parse().unwrap(),
            zone: Tz::America__Chicago,
            is_utc: here.contains("tz=utc"),
            here: here.to_owned(),
        }
    }

    #[test]
    fn times_are_told_in_the_viewers_zone() {
        let view = view("/today");
        let at = |text: &str| view.time(text.parse().unwrap()).to_string();
        assert_eq!(at("2026-11-17T13:42:08Z"), r#"<time datetime="2026-11-17T13:42:08Z" title="2026-11-17 13:42:08 UTC">07:42</time>"#);
        assert!(at("2026-11-17T00:12:00Z").contains(">16 Nov 18:12<"));
        assert!(at("2025-12-24T18:00:00Z").contains(">24 Dec 2025 12:00<"));
        assert_eq!(view.zone_name(), "Chicago, UTC−6");
        assert_eq!(view.parse("2026-11-17T09:30"), Some(view.now));
        assert_eq!(view.field(view.now), "2026-11-17T09:30");
    }

    #[test]
    fn the_link_to_the_other_zone_keeps_the_filters() {
        assert_eq!(view("/messages?state=owed").other_zone(), "/messages?state=owed&tz=utc");
        assert_eq!(view("/messages?state=owed&tz=utc").other_zone(), "/messages?state=owed");
        assert_eq!(view("/?tz=utc").other_zone(), "/");
    }
}
