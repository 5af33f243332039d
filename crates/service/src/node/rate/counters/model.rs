//! Compares the counters with a model that stores the time of every request.
#![expect(clippy::cast_possible_truncation, reason = "the numbers of these tests are small")]

use proptest::prelude::*;

use super::*;

/// The time of every admitted request, in milliseconds.
#[derive(Default)]
struct Model(Vec<u64>);

impl Model {
    /// Requests of the minute that ends with the second of `now`.
    fn in_the_minute(&self, now: u64) -> usize {
        self.0.iter().filter(|moment| **moment / 1_000 + 60 > now / 1_000).count()
    }

    fn take(&mut self, now: u64, limit: usize) -> bool {
        let admitted = self.in_the_minute(now) < limit;
        if admitted {
            self.0.push(now);
        }
        admitted
    }

    /// Seconds until a request would be admitted.
    fn wait(&self, now: u64, limit: usize) -> u32 {
        (1..=60).find(|wait| self.in_the_minute(now + wait * 1_000) < limit).unwrap_or(60) as u32
    }
}

/// Bursts of requests: the pause before each, in milliseconds, and its size.
fn bursts() -> impl Strategy<Value = Vec<(u64, usize)>> {
    let pause = prop_oneof![0_u64..50, 0_u64..3_000, 20_000_u64..40_000, 58_000_u64..62_000];
    prop::collection::vec((pause, 1_usize..30), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_counter_and_a_model_that_keeps_every_moment_agree(bursts in bursts(), limit in 1_usize..60, start in 0_u64..200_000) {
        let counters = Counters::new(1_000);
        let mut model = Model::default();
        let mut now = start;
        for (pause, requests) in bursts {
            now += pause;
            for _ in 0..requests {
                let verdict = counters.take("caller", now / 1_000, limit as u32);
                prop_assert_eq!(verdict.admitted, model.take(now, limit));
                prop_assert_eq!(verdict.remaining as usize, limit - model.in_the_minute(now));
                if !verdict.admitted {
                    prop_assert_eq!(verdict.reset, model.wait(now, limit));
                    // Nothing is refused that has room in the 60 seconds before it, to the millisecond.
                    let exact = model.0.iter().filter(|moment| **moment + 60_000 > now).count();
                    prop_assert!(exact >= limit);
                }
            }
        }
        // No minute that begins with a second holds more than the limit.
        for second in model.0.iter().map(|moment| moment / 1_000) {
            let held = model.0.iter().filter(|moment| (second..second + 60).contains(&(**moment / 1_000))).count();
            prop_assert!(held <= limit, "{} in the minute from second {}", held, second);
        }
    }

    #[test]
    fn what_other_nodes_counted_takes_its_share(own in 0_u32..50, others in 0_u32..50, limit in 1_u32..80, age in 0_usize..70) {
        let counters = Counters::new(1_000);
        let mut heard = Window::new(500);
        (0..others).for_each(|_| heard.count());
        counters.learn([("caller", Window::from_bytes(&heard.to_bytes(), age, 1_000))].into_iter());
        let others = if age < 60 { others } else { 0 };
        let admitted = (0..own).filter(|_| counters.take("caller", 1_000, limit).admitted).count() as u32;
        prop_assert_eq!(admitted, own.min(limit.saturating_sub(others)));
        let verdict = counters.look("caller", 1_060, limit);
        prop_assert_eq!((verdict.admitted, verdict.remaining), (true, limit), "a minute later all is forgotten");
    }
}

#[test]
fn the_5000th_request_of_a_minute_is_admitted_and_the_5001st_is_not() {
    let counters = Counters::new(1_000);
    for request in 0..5_000_u64 {
        assert!(counters.take("caller", 100 + request / 100, 5_000).admitted, "{request}");
    }
    let verdict = counters.take("caller", 150, 5_000);
    assert_eq!(verdict, Verdict { admitted: false, limit: 5_000, remaining: 0, reset: 10 });
    assert!(!counters.take("caller", 159, 5_000).admitted, "the first is 59 seconds old");
    assert!(counters.take("other", 159, 5_000).admitted, "others are not concerned");
    assert_eq!(counters.take("caller", 160, 5_000), Verdict { admitted: true, limit: 5_000, remaining: 99, reset: 1 });
}

#[test]
fn a_lowered_limit_holds_at_once_and_says_how_long() {
    let counters = Counters::new(1_000);
    for second in 0..10 {
        (0..10).for_each(|_| assert!(counters.take("caller", second, 1_000).admitted));
    }
    // 100 are in the window; 5 may be: the last of the ten seconds must leave.
    assert_eq!(counters.take("caller", 9, 5), Verdict { admitted: false, limit: 5, remaining: 0, reset: 60 });
    assert_eq!(counters.take("caller", 9, 95), Verdict { admitted: false, limit: 95, remaining: 0, reset: 51 });
}

#[test]
fn memory_is_bounded_and_a_busy_caller_is_not_forgotten_for_a_crowd() {
    let counters = Counters::new(6_400);
    for _ in 0..50 {
        assert!(counters.take(u64::MAX, 10, 50).admitted);
    }
    for stranger in 0..100_000 {
        assert!(counters.take(stranger, 10, 50).admitted);
    }
    assert!(counters.len() <= 6_400, "{}", counters.len());
    assert!(!counters.take(u64::MAX, 10, 50).admitted, "the busy one is still known");
    counters.sweep(70, u32::MAX);
    assert!(counters.is_empty(), "whoever was quiet for a minute is forgotten");
}

#[test]
fn the_busy_are_those_at_or_above_the_mark() {
    let counters = Counters::new(1_000);
    (0..4).for_each(|_| assert!(counters.take("quiet", 1, 100).admitted));
    (0..5).for_each(|_| assert!(counters.take("busy", 1, 100).admitted));
    let busy = counters.sweep(2, 5);
    assert_eq!(busy.iter().map(|busy| (busy.key, busy.window.total())).collect::<Vec<_>>(), [("busy", 5)]);
}
