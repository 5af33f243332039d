//! Whatever people change in the console has a command with the same role, and so an operation of the operator API.

use std::collections::BTreeMap;

use backhaul::cli::operator_api;
use backhaul::http::console::guards;
use domain::merchants::operator::Role;
use reqwest::Method;

const OWN: &str = "people change their own account where they are signed in, and not with a token";
const SHOWS: &str = "it changes nothing but the audit: it finds or shows a shopper's data to the person who looks";

/// The command that does the same as a route, or the reason that there is none.
const COMMANDS: &[(&str, Result<&[&str], &str>)] = &[
    ("/sign-out", Err(OWN)),
    ("/account/sessions/end", Err(OWN)),
    ("/account/sessions/end-others", Err(OWN)),
    ("/account/sessions/end-all", Err(OWN)),
    ("/account/devices/forget", Err(OWN)),
    ("/account/codes", Err(OWN)),
    ("/account/password", Err(OWN)),
    ("/account/tokens", Err(OWN)),
    ("/account/tokens/revoke", Err(OWN)),
    ("/operators/invite", Ok(&["operator/add"])),
    ("/operators/{id}/role", Ok(&["operator/set", "request/make-admin"])),
    ("/operators/{id}/disable", Ok(&["operator/disable"])),
    ("/operators/{id}/enable", Ok(&["operator/enable"])),
    ("/operators/{id}/reset", Ok(&["operator/reset"])),
    ("/operators/{id}/tokens/revoke", Ok(&["operator/revoke-token"])),
    ("/system/limits/{name}", Ok(&["limit/set", "limit/reset"])),
    ("/system/clock", Ok(&["clock/advance"])),
    ("/system/keys/{kind}", Ok(&["request/rotate-keys"])),
    ("/requests/erase", Ok(&["request/erase"])),
    ("/requests/{id}", Ok(&["request/decide"])),
    ("/failures/work", Ok(&["failures/note", "failures/owner", "failures/contacted"])),
    ("/failures/retry", Ok(&["failures/retry"])),
    ("/failures/discard", Ok(&["failures/discard"])),
    ("/failures/discard/request", Ok(&["request/discard"])),
    ("/merchants/{handle}/jobs/{job}/cancel", Ok(&["failures/cancel"])),
    ("/merchants/{handle}/messages/{id}/retry", Ok(&["messages/retry"])),
    ("/search", Err(SHOWS)),
    ("/cases/{handle}/{case}", Ok(&["returns/work/done"])),
    ("/merchants/{handle}/orders/{id}/shopper", Err(SHOWS)),
    ("/merchants/{handle}/orders/{id}/export", Ok(&["shopper/export"])),
    ("/merchants/{handle}/returns/{rma}/shopper", Err(SHOWS)),
    ("/merchants/{handle}/returns/{rma}/cancel", Ok(&["returns/cancel"])),
    ("/merchants/{handle}/returns/{rma}/resend", Ok(&["returns/resend"])),
    ("/merchants/{handle}/returns/{rma}/confirm-refund", Ok(&["returns/confirm-refund"])),
    ("/merchants/{handle}/returns/{rma}/label", Ok(&["returns/label"])),
    ("/merchants/{handle}/returns/{rma}/mails/{message}", Ok(&["mails/resend"])),
    ("/merchants/{handle}/returns/{rma}/exchange/placed", Ok(&["returns/exchange-placed"])),
    ("/merchants/{handle}/returns/{rma}/exchange/address", Ok(&["returns/exchange-address"])),
    ("/merchants/{handle}/returns/{rma}/exchange/convert", Ok(&["returns/convert-exchange"])),
    ("/merchants/{handle}/returns/{rma}/act", Ok(&["portal/link"])),
    ("/merchants/{handle}/exceptions/{id}", Ok(&["exceptions/assign", "exceptions/note"])),
    ("/merchants/{handle}/exceptions/{id}/resolve", Ok(&["exceptions/resolve"])),
    ("/merchants/new", Ok(&["merchant/add"])),
    ("/merchants/{handle}/contact", Ok(&["merchant/set"])),
    ("/merchants/{handle}/name", Ok(&["merchant/rename"])),
    ("/merchants/{handle}/pause", Ok(&["merchant/pause"])),
    ("/merchants/{handle}/resume", Ok(&["merchant/resume"])),
    ("/merchants/{handle}/live", Ok(&["merchant/live"])),
    ("/merchants/{handle}/credentials", Ok(&["credential/issue"])),
    ("/merchants/{handle}/credentials/{client_id}/revoke", Ok(&["credential/revoke"])),
    ("/merchants/{handle}/credentials/{client_id}/certificates", Ok(&["credential/certificate/add"])),
    ("/merchants/{handle}/credentials/{client_id}/certificates/remove", Ok(&["credential/certificate/remove"])),
    ("/merchants/{handle}/policy/change", Ok(&["policy/set"])),
    ("/merchants/{handle}/brand/logo", Ok(&["brand/set"])),
    ("/merchants/{handle}/brand", Ok(&["brand/set"])),
    ("/merchants/{handle}/brand/remove", Ok(&["brand/remove"])),
    ("/merchants/{handle}/mails/{mail}/{language}", Err("it sends a sample to the person who is signed in")),
    ("/merchants/{handle}/check", Ok(&["endpoint/check"])),
    ("/merchants/{handle}/endpoints/{interface}/set", Ok(&["endpoint/set"])),
    ("/merchants/{handle}/endpoints/{interface}/pause", Ok(&["endpoint/pause"])),
    ("/merchants/{handle}/endpoints/{interface}/resume", Ok(&["endpoint/resume"])),
    ("/merchants/{handle}/endpoints/{interface}/secret", Ok(&["endpoint/rotate-secret"])),
    ("/merchants/{handle}/endpoints/{interface}/test", Ok(&["endpoint/test"])),
    ("/merchants/{handle}/endpoints/{interface}/replay", Ok(&["endpoint/replay"])),
    ("/merchants/{handle}/endpoints/{interface}/replay/{job}/cancel", Ok(&["endpoint/cancel-replay"])),
];

#[test]
fn whatever_changes_something_in_the_console_has_a_command_with_the_same_role() {
    let operations: BTreeMap<String, (Role, bool)> =
        operator_api().operations.into_iter().map(|operation| (operation.path, (operation.role, operation.reads))).collect();
    let routes: BTreeMap<&str, Role> =
        guards().into_iter().filter(|guard| guard.method == Method::POST).filter_map(|guard| Some((guard.path, guard.role?))).collect();
    for (path, role) in &routes {
        let known = COMMANDS.iter().find(|(known, _)| known == path);
        match known.unwrap_or_else(|| panic!("no command does what {path} does; add one, or say here why there is none")).1 {
            Ok(commands) => {
                for command in commands {
                    assert_eq!(operations.get(*command), Some(&(*role, false)), "{command} for {path}");
                }
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
    for (path, _) in COMMANDS {
        assert!(routes.contains_key(path), "the console has no {path} any more");
    }
}
