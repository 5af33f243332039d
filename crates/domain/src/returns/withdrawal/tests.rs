use chrono::Datelike;
use proptest::prelude::*;

use super::*;

fn date(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

fn country(code: &str) -> Country {
    code.parse().expect("a country")
}

fn delivered(day: NaiveDate) -> Goods {
    Goods { delivered_on: Some(day), ..Goods::default() }
}

fn shipped(day: NaiveDate) -> Goods {
    Goods { shipped_on: Some(day), ..Goods::default() }
}

/// Country, day of delivery, last day of the period; worked out by hand from public calendars.
const ENDS: [(&str, &str, &str, &str); 56] = [
    ("DE", "2026-11-02", "2026-11-16", "a plain Monday"),
    ("DE", "2026-11-04", "2026-11-19", "Repentance Day, in Saxony"),
    ("DE", "2026-04-17", "2026-05-04", "May Day on a Friday"),
    ("DE", "2026-12-11", "2026-12-28", "Christmas Day on a Friday"),
    ("DE", "2026-10-23", "2026-11-06", "the clocks go back in between"),
    ("DE", "2027-03-16", "2027-03-30", "the clocks go forward in between"),
    ("DE", "2027-02-15", "2027-03-01", "February of 28 days"),
    ("DE", "2027-12-18", "2028-01-03", "a Saturday that is New Year's Day"),
    ("FR", "2026-11-07", "2026-11-23", "a Saturday"),
    ("FR", "2026-11-08", "2026-11-23", "a Sunday"),
    ("FR", "2026-10-28", "2026-11-12", "Armistice Day"),
    ("FR", "2027-03-12", "2027-03-30", "Good Friday, in Alsace"),
    ("AT", "2026-10-12", "2026-10-27", "National Day"),
    ("BE", "2026-07-07", "2026-07-22", "National Day"),
    ("BE", "2028-02-15", "2028-02-29", "a leap day"),
    ("NL", "2028-02-29", "2028-03-14", "delivered on a leap day"),
    ("NL", "2027-04-13", "2027-04-28", "King's Day"),
    ("NL", "2027-03-12", "2027-03-30", "Good Friday to Easter Monday"),
    ("DK", "2026-12-10", "2026-12-28", "Christmas Eve to a Sunday"),
    ("DK", "2027-04-09", "2027-04-23", "Great Prayer Day is a holiday no more"),
    ("SE", "2026-12-17", "2027-01-04", "New Year's Eve to a Sunday"),
    ("SE", "2026-06-05", "2026-06-22", "Midsummer Eve at its earliest"),
    ("SE", "2027-06-11", "2027-06-28", "Midsummer Eve at its latest"),
    ("FI", "2026-12-23", "2027-01-07", "Epiphany"),
    ("FI", "2027-06-11", "2027-06-28", "Midsummer Eve"),
    ("NO", "2027-05-03", "2027-05-18", "Constitution Day and Whit Monday"),
    ("IS", "2027-04-08", "2027-04-23", "the first day of summer"),
    ("IS", "2027-07-19", "2027-08-03", "Commerce Day"),
    ("LI", "2027-05-13", "2027-05-28", "Corpus Christi"),
    ("IE", "2026-01-19", "2026-02-03", "Saint Brigid's Day on the first Monday"),
    ("IE", "2030-01-18", "2030-02-04", "Saint Brigid's Day on its own Friday"),
    ("IE", "2030-01-21", "2030-02-04", "and then the Monday is a working day"),
    ("IE", "2026-10-12", "2026-10-27", "the last Monday of October"),
    ("IE", "2027-12-13", "2027-12-29", "Christmas on a weekend"),
    ("ES", "2027-03-11", "2027-03-30", "Maundy Thursday to Easter Monday"),
    ("ES", "2026-10-19", "2026-11-03", "All Saints on a Sunday"),
    ("PT", "2026-11-17", "2026-12-02", "Restoration of Independence"),
    ("IT", "2027-09-20", "2027-10-05", "Saint Francis"),
    ("MT", "2027-11-29", "2027-12-14", "Republic Day"),
    ("GR", "2027-04-16", "2027-05-05", "Orthodox Good Friday, and May Day moved to the Tuesday after Easter"),
    ("GR", "2024-04-23", "2024-05-08", "May Day in Holy Week"),
    ("CY", "2027-04-16", "2027-05-04", "Orthodox Good Friday to Easter Monday"),
    ("RO", "2026-03-27", "2026-04-14", "Orthodox Good Friday to Easter Monday"),
    ("RO", "2026-03-20", "2026-04-03", "the western Good Friday is a working day"),
    ("BG", "2027-12-10", "2027-12-29", "Christmas Eve, and two substitutes for a weekend"),
    ("BG", "2026-04-22", "2026-05-07", "Saint George's Day"),
    ("HR", "2026-06-08", "2026-06-23", "Anti-Fascist Struggle Day"),
    ("SI", "2027-01-25", "2027-02-09", "Prešeren Day"),
    ("HU", "2027-08-06", "2027-08-23", "Saint Stephen's Day on a Friday"),
    ("SK", "2026-08-18", "2026-09-02", "Constitution Day, although people work"),
    ("CZ", "2027-06-21", "2027-07-07", "two holidays in a row"),
    ("PL", "2026-12-10", "2026-12-28", "Christmas Eve to a Sunday"),
    ("EE", "2026-06-09", "2026-06-25", "Victory Day and Saint John's Day"),
    ("LV", "2024-04-22", "2024-05-07", "Independence Day on a Saturday"),
    ("LT", "2026-10-19", "2026-11-03", "All Souls"),
    ("LU", "2029-04-25", "2029-05-11", "Europe Day, and Ascension after it"),
];

#[test]
fn a_period_ends_on_the_next_working_day_after_fourteen_days() {
    for (code, arrived, end, why) in ENDS {
        assert_eq!(period(country(code), &[delivered(date(arrived))], 0), Period::Until(date(end)), "{code} {arrived}: {why}");
    }
    let covered: BTreeSet<Country> = ENDS.iter().map(|(code, ..)| country(code)).collect();
    assert_eq!(covered.len(), Country::ALL.len());
}

#[test]
fn a_period_begins_when_the_last_goods_arrive() {
    let [first, second, third] = ["2026-11-02", "2026-11-05", "2026-11-09"].map(date);
    let end = |goods: &[Goods]| period(Country::Germany, goods, 3);
    assert_eq!(end(&[delivered(second), delivered(first)]), Period::Until(date("2026-11-19")));
    assert_eq!(end(&[delivered(first), shipped(second)]), Period::Until(date("2026-11-23")), "the 5th, 3 days of transit, a Sunday");
    assert_eq!(end(&[delivered(third), shipped(first)]), Period::Until(date("2026-11-23")));
}

#[test]
fn the_merchants_day_goes_before_the_carriers_and_that_before_transit() {
    let [shipped_on, carrier, merchant] = ["2026-11-02", "2026-11-03", "2026-11-05"].map(|day| Some(date(day)));
    let end = |delivered_on, carrier_delivered_on| period(Country::Germany, &[Goods { delivered_on, carrier_delivered_on, shipped_on }], 7);
    assert_eq!(end(merchant, carrier), Period::Until(date("2026-11-19")));
    assert_eq!(end(None, carrier), Period::Until(date("2026-11-17")));
    assert_eq!(end(merchant, None), Period::Until(date("2026-11-19")));
    assert_eq!(end(None, None), Period::Until(date("2026-11-23")));
}

#[test]
fn a_period_has_no_end_while_something_is_not_shipped() {
    let here = delivered(date("2026-11-02"));
    assert_eq!(period(Country::Germany, &[here, Goods::default()], 3), Period::Open);
    assert_eq!(period(Country::Germany, &[], 3), Period::Open);
    assert_eq!(period(Country::Germany, &[shipped(NaiveDate::MAX)], 1), Period::Open);
    assert_eq!(period(Country::Germany, &[delivered(NaiveDate::MAX)], 0), Period::Open);
}

#[test]
fn a_period_includes_its_last_day() {
    let until = Period::Until(date("2026-11-16"));
    assert_eq!(["2026-11-15", "2026-11-16", "2026-11-17"].map(|day| until.includes(date(day))), [true, true, false]);
    assert!(Period::Open.includes(date("2099-01-01")));
}

#[test]
fn the_right_is_that_of_consumers_in_the_european_economic_area() {
    assert!(concerns("DE") && concerns("nor") && concerns("IS") && concerns("LI"));
    assert!(!concerns("US") && !concerns("GB") && !concerns("CH") && !concerns(""));
}

/// The holidays of 2029 that are not on a weekend, as month and day. Easter is on 1 April, and on 8 April for the Orthodox.
const HOLIDAYS_OF_2029: [(&str, &str); 30] = [
    ("AT", "0101 0330 0402 0501 0510 0521 0531 0815 1026 1101 1225 1226"),
    ("BE", "0101 0402 0501 0510 0521 0815 1101 1225"),
    ("BG", "0101 0305 0406 0409 0501 0507 0524 0906 0924 1224 1225 1226"),
    ("HR", "0101 0402 0501 0530 0531 0622 0815 1101 1225 1226"),
    ("CY", "0101 0219 0406 0409 0501 0528 0815 1001 1225 1226"),
    ("CZ", "0101 0330 0402 0501 0508 0705 0706 0928 1224 1225 1226"),
    ("DK", "0101 0329 0330 0402 0510 0521 0605 1224 1225 1226 1231"),
    ("EE", "0101 0330 0501 0820 1224 1225 1226"),
    ("FI", "0101 0330 0402 0501 0510 0622 1206 1224 1225 1226"),
    ("FR", "0101 0330 0402 0427 0501 0508 0510 0521 0522 0528 0815 1101 1220 1225 1226"),
    ("DE", "0101 0308 0330 0402 0501 0510 0521 0531 0815 0920 1003 1031 1101 1121 1225 1226"),
    ("GR", "0101 0219 0406 0409 0501 0528 0815 1225 1226"),
    ("HU", "0101 0315 0330 0402 0501 0521 0820 1023 1101 1225 1226"),
    ("IS", "0101 0329 0330 0402 0419 0501 0510 0521 0806 1224 1225 1226 1231"),
    ("IE", "0101 0205 0319 0402 0507 0604 0806 1029 1225 1226"),
    ("IT", "0101 0402 0425 0501 0521 0815 1004 1101 1225 1226"),
    ("LV", "0101 0330 0402 0501 0504 1119 1224 1225 1226 1231"),
    ("LI", "0101 0202 0319 0402 0501 0510 0521 0531 0815 1101 1225 1226"),
    ("LT", "0101 0216 0402 0501 0706 0815 1101 1102 1224 1225 1226"),
    ("LU", "0101 0402 0501 0509 0510 0521 0815 1101 1225 1226"),
    ("MT", "0101 0319 0330 0501 0607 0629 0815 0921 1213 1225"),
    ("NL", "0101 0330 0402 0427 0510 0521 1225 1226"),
    ("NO", "0101 0329 0330 0402 0501 0510 0517 0521 1225 1226"),
    ("PL", "0101 0402 0501 0503 0531 0815 1101 1224 1225 1226"),
    ("PT", "0101 0330 0425 0501 0521 0531 0815 1005 1101 1225 1226"),
    ("RO", "0101 0102 0124 0406 0409 0501 0528 0601 0815 1130 1225 1226"),
    ("SK", "0101 0330 0402 0501 0508 0705 0829 1101 1224 1225 1226"),
    ("SI", "0101 0102 0208 0402 0427 0501 0502 0625 0815 1031 1101 1225 1226"),
    (
        "ES",
        "0101 0228 0301 0319 0329 0330 0402 0423 0501 0502 0517 0521 0530 0531 0613 0625 0725 0806 0815 0903 \
         0911 0917 1009 1012 1101 1203 1206 1225 1226",
    ),
    ("SE", "0101 0330 0402 0501 0510 0606 0622 1224 1225 1226 1231"),
];

#[test]
fn the_holidays_of_a_year_are_those_of_the_calendars() {
    for (code, listed) in HOLIDAYS_OF_2029 {
        let weekdays = date("2029-01-01").iter_days().take(365).filter(|day| day.weekday().num_days_from_monday() < 5);
        let found = weekdays.filter(|day| !is_working_day(country(code), *day)).map(|day| day.format("%m%d").to_string());
        assert_eq!(found.collect::<Vec<_>>().join(" "), listed, "{code}");
    }
}

/// A country and a day between 2024 and 2050.
fn any_delivery() -> impl Strategy<Value = (Country, NaiveDate)> {
    let day = (0..9_800_u64).prop_map(|days| date("2024-01-01") + Days::new(days));
    (prop::sample::select(Country::ALL.to_vec()), day)
}

fn end(country: Country, goods: &[Goods]) -> NaiveDate {
    match period(country, goods, 2) {
        Period::Until(day) => day,
        Period::Open => panic!("no end"),
    }
}

proptest! {
    #[test]
    fn a_period_ends_on_a_working_day_after_fourteen_days_or_soon_after((country, day) in any_delivery()) {
        let end = end(country, &[delivered(day)]);
        prop_assert!(is_working_day(country, end) && end.weekday().num_days_from_monday() < 5);
        prop_assert!((14..=14 + 6).contains(&(end - day).num_days()), "{end}");
        let between = (day + DAYS).iter_days().take_while(|day| *day < end);
        prop_assert!(between.into_iter().all(|day| !is_working_day(country, day)), "it ends on the first working day");
    }

    #[test]
    fn a_later_delivery_never_ends_a_period_earlier((country, day) in any_delivery(), later in 0..40_u64) {
        prop_assert!(end(country, &[delivered(day)]) <= end(country, &[delivered(day + Days::new(later))]));
    }

    #[test]
    fn more_goods_never_end_a_period_earlier((country, day) in any_delivery(), others in prop::collection::vec((0..30_u64, any::<bool>()), 0..5)) {
        let goods: Vec<Goods> = others.iter().map(|(days, known)| (day + Days::new(*days), known)).map(|(day, known)| if *known { delivered(day) } else { shipped(day) }).collect();
        let all: Vec<Goods> = goods.iter().copied().chain([delivered(day)]).collect();
        let latest = all.iter().map(|goods| end(country, &[*goods])).max();
        prop_assert_eq!(Some(end(country, &all)), latest);
        let unshipped: Vec<Goods> = all.into_iter().chain([Goods::default()]).collect();
        prop_assert_eq!(period(country, &unshipped, 2), Period::Open);
    }
}
