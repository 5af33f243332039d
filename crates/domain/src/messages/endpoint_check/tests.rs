//! Each fault is found by its own check, and by no other.

use super::*;

const DEADLINE: Duration = Duration::from_secs(20);

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

fn first(status: u16) -> First {
    First::Answered { status, took: Duration::from_millis(40), tls: Some("1.3"), body: Body::Unread }
}

/// The trials of a healthy endpoint whose tokens are fetched.
fn healthy() -> Trials {
    Trials {
        interface: Interface::Rma,
        credentials: Credentials::Fetched,
        is_https: true,
        is_sandbox: false,
        deadline: DEADLINE,
        first: first(200),
        repeated: Some(answered(200)),
        forged: Some(answered(401)),
        nobody: Some(answered(401)),
        made_up: Some(answered(401)),
        expired: None,
        fresh: Some(answered(200)),
    }
}

/// The findings that did not pass, and apply.
fn found(trials: &Trials) -> Vec<Finding> {
    let findings = judge(trials);
    assert_eq!(findings.each_ref().map(Finding::check), Check::ALL);
    findings.into_iter().filter(|finding| !matches!(finding.state(), State::Passed | State::NotApplicable)).collect()
}

/// The only fault, with everything else passed.
fn only(trials: &Trials) -> Finding {
    let mut found = found(trials);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// The only fault, because of which the checks after it were not made.
fn worst(trials: &Trials) -> Finding {
    let found = found(trials);
    let (blocked, mut faults): (Vec<_>, Vec<_>) = found.into_iter().partition(|finding| finding.state() == State::NotChecked);
    assert_eq!(faults.len(), 1, "{faults:?}");
    let fault = faults.remove(0);
    for finding in blocked {
        assert_eq!(finding, Finding::NotChecked(finding.check(), Blocked::By(fault.check())));
    }
    fault
}

#[test]
fn a_healthy_endpoint_has_no_faults() {
    assert_eq!(found(&healthy()), []);
    for credentials in [Credentials::None, Credentials::Fixed] {
        assert_eq!(found(&Trials { credentials, ..healthy() }), []);
    }
    let answered = First::Answered { status: 200, took: Duration::ZERO, tls: None, body: Body::Read(0) };
    let queried = Trials { interface: Interface::ExchangeVariants, is_https: false, is_sandbox: true, first: answered, ..healthy() };
    assert_eq!(found(&Trials { repeated: None, forged: None, ..queried.clone() }), []);
    assert_eq!(judge(&queried)[1], Finding::PlainInSandbox);
    assert_eq!(judge(&Trials { is_sandbox: false, ..queried })[1].state(), State::Warned);
}

#[test]
fn what_stops_the_first_call_is_named_and_the_rest_is_not_checked() {
    let why = || "why".to_owned();
    for (first, fault) in [
        (First::Unusable(why()), Finding::Unusable(why())),
        (First::NotAllowed(why()), Finding::NotAllowed(why())),
        (First::Unreachable(why()), Finding::Unreachable(why())),
        (First::BadTls(why()), Finding::BadTls(why())),
        (First::NoToken(why()), Finding::NoToken(why())),
        (First::Silent(true), Finding::Silent(DEADLINE)),
        (First::Silent(false), Finding::Silent(DEADLINE)),
        (first(302), Finding::Redirected(302)),
        (first(500), Finding::Broken(500)),
        (first(404), Finding::Rejected(404)),
        (first(401), Finding::CredentialsRefused(401)),
        (first(403), Finding::CredentialsRefused(403)),
    ] {
        let stopped = Trials { first, repeated: None, forged: None, nobody: None, made_up: None, fresh: None, ..healthy() };
        assert_eq!(worst(&stopped), fault);
    }
}

#[test]
fn a_third_of_the_deadline_is_slow() {
    let took = |took| Trials { first: First::Answered { status: 200, took, tls: Some("1.2"), body: Body::Unread }, ..healthy() };
    assert_eq!(found(&took(DEADLINE / 3)), []);
    let late = DEADLINE / 3 + Duration::from_millis(1);
    assert_eq!(only(&took(late)), Finding::Slow { took: late, deadline: DEADLINE });
}

#[test]
fn whoever_accepts_too_much_is_told() {
    let fixed = || Trials { credentials: Credentials::Fixed, ..healthy() };
    assert_eq!(only(&Trials { forged: Some(answered(202)), ..healthy() }), Finding::ForgeryAccepted(202));
    assert_eq!(only(&Trials { forged: Some(answered(500)), ..healthy() }), Finding::OddForgery("500".to_owned()));
    assert_eq!(only(&Trials { nobody: Some(answered(200)), ..fixed() }), Finding::Anybody(200));
    assert_eq!(only(&Trials { made_up: Some(answered(200)), ..fixed() }), Finding::WrongCredentials(200));
    assert_eq!(only(&Trials { made_up: Some(Outcome::TimedOut), ..fixed() }), Finding::OddRefusal("timed out".to_owned()));
    assert_eq!(only(&Trials { nobody: Some(answered(302)), ..fixed() }), Finding::OddRefusal("302".to_owned()));
    assert_eq!(worst(&Trials { nobody: Some(answered(200)), made_up: None, fresh: None, ..healthy() }), Finding::Anybody(200));
    let accepted = |token| Finding::InvalidTokenAccepted(token, 200);
    assert_eq!(only(&Trials { made_up: Some(answered(200)), ..healthy() }), accepted(InvalidToken::MadeUp));
    assert_eq!(only(&Trials { expired: Some(answered(200)), ..healthy() }), accepted(InvalidToken::Expired));
}

#[test]
fn whoever_accepts_too_little_is_told() {
    assert_eq!(only(&Trials { repeated: Some(answered(409)), ..healthy() }), Finding::RepeatRefused("409".to_owned()));
    assert_eq!(only(&Trials { made_up: Some(answered(403)), ..healthy() }), Finding::OddToken(InvalidToken::MadeUp, "403".to_owned()));
    assert_eq!(only(&Trials { fresh: Some(answered(401)), ..healthy() }), Finding::FreshTokenRefused("401".to_owned()));
    let expired = judge(&Trials { expired: Some(answered(401)), ..healthy() });
    assert_eq!(expired[7], Finding::TokenReplaced(InvalidToken::Expired));
}

#[test]
fn only_bodies_that_are_read_are_looked_at() {
    let with = |interface, body| {
        let first = First::Answered { status: 200, took: Duration::ZERO, tls: Some("1.3"), body };
        judge(&Trials { interface, first, ..healthy() })[8].clone()
    };
    for interface in Interface::ALL {
        let is_read = matches!(interface, Interface::ExchangeOrder | Interface::ExchangeVariants);
        assert_eq!(with(interface, Body::Malformed) == Finding::AnswerMalformed, is_read, "{interface}");
    }
    assert_eq!(with(Interface::ExchangeVariants, Body::Read(2)), Finding::VariantsSkipped(2));
    assert_eq!(with(Interface::ExchangeVariants, Body::Read(0)), Finding::AnswerRead);
}

#[test]
fn a_variant_that_is_not_known_is_no_fault_but_nothing_else_was_seen() {
    let unknown =
        Trials { interface: Interface::ExchangeVariants, first: first(404), nobody: None, made_up: None, fresh: None, ..healthy() };
    assert_eq!(worst(&unknown), Finding::UnknownVariant);
}

#[test]
fn what_there_was_no_time_for_says_so() {
    let out_of_time =
        Trials { first: First::OutOfTime, repeated: None, forged: None, nobody: None, made_up: None, fresh: None, ..healthy() };
    let findings = found(&out_of_time);
    assert!(findings.iter().all(|finding| matches!(finding, Finding::NotChecked(_, Blocked::OutOfTime))), "{findings:?}");
    assert_eq!(findings.len(), 8, "the body is not read");
    let fresh = only(&Trials { fresh: None, ..healthy() });
    assert_eq!(fresh, Finding::NotChecked(Check::Token, Blocked::OutOfTime));
}
