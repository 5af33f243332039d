//! A small copy of a picture: decoded within limits, put on white, scaled, turned upright, and encoded as JPEG. Of the file itself
//! nothing is left but the pixels, so neither metadata nor anything hidden in it reaches a shopper.

mod webp;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::error::{LimitError, LimitErrorKind};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, ImageResult, Limits, Pixel as _, Rgba};

/// The longest side of a copy: 72 CSS pixels on a screen with three pixels for each.
const SIDE: u32 = 216;
/// The quality of the JPEG, in per cent.
const QUALITY: u8 = 80;
/// The longest side of an original.
const MOST_SIDE: u32 = 8_000;
/// The bytes of a decoded original: 5,000 by 5,000 pixels in RGB. A decoder may need three times as much beside it.
const MOST_DECODED: u64 = 5_000 * 5_000 * 3;

const WHITE: Rgba<u8> = Rgba([u8::MAX; 4]);

/// Makes a small copy of a PNG, a JPEG or a WebP; of an animation, of its first frame. The bytes decide what it is. Too large
/// a picture is refused before it is decoded.
pub(super) fn shrink(file: &[u8]) -> ImageResult<Vec<u8>> {
    let (picture, orientation) = decode(file)?;
    let mut picture = on_white(picture);
    if picture.width().max(picture.height()) > SIDE {
        picture = picture.resize(SIDE, SIDE, FilterType::Triangle);
    }
    picture.apply_orientation(orientation);
    let mut copy = Vec::new();
    picture.into_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut copy, QUALITY))?;
    Ok(copy)
}

fn decode(file: &[u8]) -> ImageResult<(DynamicImage, Orientation)> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_DECODED);
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
    reader.limits(limits.clone());
    let is_webp = reader.format() == Some(ImageFormat::WebP);
    if is_webp && webp::has_large_frame(file, MOST_SIDE) {
        return Err(ImageError::Limits(LimitError::from_kind(LimitErrorKind::DimensionError)));
    }
    let mut decoder = reader.into_decoder()?;
    // The decoders count their own memory at best, and not the picture that they are to fill.
    limits.reserve(decoder.total_bytes())?;
    // For the metadata of a WebP, its decoder allocates whatever size the file claims.
    let orientation = if is_webp { Orientation::NoTransforms } else { decoder.orientation()? };
    Ok((DynamicImage::from_decoder(decoder)?, orientation))
}

/// Replaces transparency by white. Scaling must come later, or the colours of transparent pixels would show at the edges.
fn on_white(picture: DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return picture;
    }
    let mut pixels = picture.into_rgba8();
    for pixel in pixels.pixels_mut() {
        let mut below = WHITE;
        below.blend(pixel);
        *pixel = below;
    }
    pixels.into()
}

#[cfg(test)]
mod tests;
