//! Reads arbitrary bytes as a token request, as JSON and as a form. The parsers never panic and never let a NUL character through.

#![no_main]

use libfuzzer_sys::fuzz_target;
use secrecy::ExposeSecret;
use wire::merchants::token::TokenRequest;

fuzz_target!(|body: &[u8]| {
    for request in [TokenRequest::from_json(body), TokenRequest::from_form(body)].into_iter().flatten() {
        let secret = request.client_secret.as_ref().map(ExposeSecret::expose_secret);
        for text in [request.grant_type.as_deref(), request.client_id.as_deref(), secret].into_iter().flatten() {
            assert!(!text.contains('\0'), "a NUL character was accepted");
        }
    }
});
