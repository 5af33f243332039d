//! A shipment's label: four by six inches, with the tracking number as text and as a QR code.

use qrcode::{Color, QrCode};
use serde_json::Value;

use super::pdf::{Page, Weight};
use super::shipment::Shipment;

/// The page size in points.
const WIDTH: usize = 288;
const HEIGHT: usize = 432;
/// The margin on all sides.
const MARGIN: usize = 14;
/// The vertical space between the addresses and the number, and the size of the QR code, which needs white around it.
const CODE_AREA: std::ops::Range<usize> = 43..232;
const CODE: usize = 140;

/// Renders the label as a PDF. `None` if no label was bought.
pub(super) fn render(shipment: &Shipment) -> Option<Vec<u8>> {
    let code = &shipment.purchase.as_ref()?.tracking_code;
    let service = shipment.purchase.as_ref()?.rate.get("service").and_then(Value::as_str).unwrap_or_default();
    let mut page = Page::default();
    page.text(MARGIN, 408, 16, Weight::Bold, &format!("SIMCARRIER {}", service.to_uppercase()));
    page.rectangle(MARGIN, 400, WIDTH - 2 * MARGIN, 1);
    page.text(MARGIN, 388, 7, Weight::Bold, "FROM");
    block(&mut page, 378, 8, 46, shipment.sender());
    page.rectangle(MARGIN, 328, WIDTH - 2 * MARGIN, 1);
    page.text(MARGIN, 316, 7, Weight::Bold, "TO");
    block(&mut page, 302, 11, 34, shipment.receiver());
    page.rectangle(MARGIN, CODE_AREA.end, WIDTH - 2 * MARGIN, 2);
    draw_code(&mut page, code)?;
    page.text(MARGIN, 32, 11, Weight::Bold, &cut(code, 34));
    let reference = shipment.reference.as_deref().unwrap_or_default();
    page.text(MARGIN, 18, 8, Weight::Regular, &cut(&format!("Ref. {reference}"), 46));
    Some(page.finish(WIDTH, HEIGHT))
}

/// Draws an address line by line, from `top` down.
fn block(page: &mut Page, top: usize, size: usize, longest: usize, address: &Value) {
    let part = |name| address.get(name).and_then(Value::as_str).unwrap_or_default();
    let town = format!("{} {} {}", part("city"), part("state"), part("zip"));
    let lines = [part("name"), part("company"), part("street1"), part("street2"), &town, part("country")];
    let lines = lines.into_iter().filter(|line| !line.trim().is_empty());
    for (index, line) in lines.enumerate() {
        page.text(MARGIN, top - index * (size + 1), size, Weight::Regular, &cut(line, longest));
    }
}

/// Cuts a text to the length of a line.
fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

/// Draws the QR code in the middle of its area. A module is a whole number of points, so that rounding leaves no gaps.
/// Adjacent dark modules of a row are drawn as one rectangle.
fn draw_code(page: &mut Page, text: &str) -> Option<()> {
    let code = QrCode::new(text).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let module = (CODE / width).max(1);
    let side = width * module;
    let (left, top) = (WIDTH.saturating_sub(side) / 2, (CODE_AREA.start + CODE_AREA.end + side) / 2);
    for (row, colors) in colors.chunks(width).enumerate() {
        let mut column = 0;
        for run in colors.chunk_by(|one, other| one == other) {
            if run.first() == Some(&Color::Dark) {
                page.rectangle(left + column * module, top.saturating_sub((row + 1) * module), run.len() * module, module);
            }
            column += run.len();
        }
    }
    Some(())
}
