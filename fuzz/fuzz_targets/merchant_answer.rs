//! Reads arbitrary bytes as a merchant's response. The parsers never panic and accept only variants and orders that are usable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::returns::exchange_order::PlacedOrder;
use wire::returns::variants::{self, MOST_VARIANTS};

fuzz_target!(|answer: &[u8]| {
    if let Some(identifier) = PlacedOrder::read(answer).order_identifier {
        assert!(!identifier.is_empty() && !identifier.contains('\0'), "{identifier}");
    }
    let Ok(variants::Listed { variants, .. }) = variants::read(answer) else { return };
    assert!(variants.len() <= MOST_VARIANTS, "{} variants", variants.len());
    for variant in variants {
        assert!(!variant.sku.is_empty(), "{variant:?}");
        for url in [variant.image_url, variant.product_url].into_iter().flatten() {
            let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
            assert!(scheme.is_some_and(|scheme| scheme == "http" || scheme == "https"), "{url}");
        }
    }
});
