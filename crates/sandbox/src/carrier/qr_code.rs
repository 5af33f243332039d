//! A shipment's QR code: a picture of the tracking number, to be shown at a counter.

use qrcode::QrCode;

use super::shipment::Shipment;

/// The pixels of a module's side, and the modules of the white margin, which scanners need.
const MODULE: usize = 8;
const MARGIN: usize = 4 * MODULE;

const BLACK: u8 = 0;
const WHITE: u8 = 255;

/// Renders the code as a PNG. `None` if nobody asked for it.
pub(super) fn render(shipment: &Shipment) -> Option<Vec<u8>> {
    let purchase = shipment.purchase.as_ref().filter(|_| !shipment.forms.is_empty())?;
    let code = QrCode::new(&purchase.tracking_code).ok()?;
    let side = code.width() * MODULE + 2 * MARGIN;
    let margin = vec![WHITE; side * MARGIN];
    let mut pixels = margin.clone();
    for modules in code.to_colors().chunks(code.width()) {
        let mut row = vec![WHITE; MARGIN];
        modules.iter().for_each(|module| row.extend([module.select(BLACK, WHITE); MODULE]));
        row.extend([WHITE; MARGIN]);
        pixels.extend(row.repeat(MODULE));
    }
    pixels.extend(margin);
    encode(u32::try_from(side).ok()?, &pixels).ok()
}

/// Encodes a square of grey pixels.
fn encode(side: u32, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}
