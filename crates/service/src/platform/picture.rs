//! Small copies of pictures that others made: decoded within limits, scaled, turned upright, and encoded anew. Of the file itself
//! nothing is left but the pixels, so neither metadata nor anything hidden in it reaches a shopper.

mod jpeg;
mod webp;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::error::{LimitError, LimitErrorKind};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, ImageResult, Limits, Pixel as _, Rgba, RgbaImage};

/// The longest side of a photo's copy: 72 CSS pixels on a screen with three pixels for each.
const PHOTO_SIDE: u32 = 216;
/// The quality of the JPEG, in per cent.
const QUALITY: u8 = 80;
/// The sides of a logo's copy: 160 by 30 CSS pixels on a screen with three pixels for each.
const LOGO_WIDTH: u32 = 480;
const LOGO_HEIGHT: u32 = 90;
/// The longest side of an original.
const MOST_SIDE: u32 = 8_000;
/// The bytes for a decoded original and for what its decoder needs beside it: 6,000 by 3,000 pixels in RGB.
const MOST_BYTES: u64 = 6_000 * 3_000 * 3;
/// The bytes for the metadata that a decoder reads on its way to the picture.
const MOST_METADATA: u64 = 4 * 1024 * 1024;
/// The bytes for each pixel that the decoder of a WebP needs at most beside the picture: planes, alpha, the canvas of an animation.
const BESIDE_WEBP: u64 = 9;
/// The bytes of tables that a byte of a lossless WebP can describe.
const TABLES: u64 = 300;

const WHITE: Rgba<u8> = Rgba([u8::MAX; 4]);

/// Makes a small JPEG of a PNG, a JPEG or a WebP; of an animation, of its first frame. The bytes decide what it is. Too large
/// a picture is refused before it is decoded.
pub fn shrink_photo(file: &[u8]) -> ImageResult<Vec<u8>> {
    let (picture, orientation) = decode(file)?;
    let mut picture = on_white(picture);
    if picture.width().max(picture.height()) > PHOTO_SIDE {
        picture = picture.resize(PHOTO_SIDE, PHOTO_SIDE, FilterType::Triangle);
    }
    picture.apply_orientation(orientation);
    let mut copy = Vec::new();
    picture.into_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut copy, QUALITY))?;
    Ok(copy)
}

/// Makes a PNG that is small enough for the head of a page, of the same files as [`shrink_photo`]. It keeps transparency, and is
/// never larger than the original.
pub fn shrink_logo(file: &[u8]) -> ImageResult<Vec<u8>> {
    let (mut picture, orientation) = decode(file)?;
    picture.apply_orientation(orientation);
    if picture.width() > LOGO_WIDTH || picture.height() > LOGO_HEIGHT {
        picture = scale_logo(picture);
    }
    let mut copy = Vec::new();
    picture.into_rgba8().write_with_encoder(PngEncoder::new_with_quality(&mut copy, CompressionType::Best, PngFilter::Adaptive))?;
    Ok(copy)
}

fn decode(file: &[u8]) -> ImageResult<(DynamicImage, Orientation)> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_METADATA);
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
    reader.limits(limits.clone());
    let format = reader.format();
    if format == Some(ImageFormat::WebP) && webp::largest_frame(file) > MOST_BYTES / 3 {
        return Err(ImageError::Limits(LimitError::from_kind(LimitErrorKind::DimensionError)));
    }
    let mut decoder = reader.into_decoder()?;
    // The decoders count their own memory at best, and not the picture that they are to fill.
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let beside = match format {
        Some(ImageFormat::Jpeg) => pixels * jpeg::beside(file),
        Some(ImageFormat::WebP) => pixels * BESIDE_WEBP + webp::largest_lossless(file) * TABLES,
        _ => 0,
    };
    limits.max_alloc = Some(MOST_BYTES);
    limits.reserve(decoder.total_bytes())?;
    limits.reserve(beside)?;
    // For the metadata of a WebP, its decoder allocates whatever size the file claims.
    let orientation = if format == Some(ImageFormat::WebP) { Orientation::NoTransforms } else { decoder.orientation()? };
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

fn scale_logo(picture: DynamicImage) -> DynamicImage {
    let scale = |picture: DynamicImage| picture.resize(LOGO_WIDTH, LOGO_HEIGHT, FilterType::CatmullRom);
    if !picture.color().has_alpha() {
        return scale(picture);
    }
    // Else the colours of transparent pixels would show at the edges.
    let mut pixels = picture.into_rgba8();
    weigh_by_alpha(&mut pixels);
    let mut pixels = scale(pixels.into()).into_rgba8();
    unweigh_by_alpha(&mut pixels);
    pixels.into()
}

/// Makes each pixel's colour count as much as it is opaque.
fn weigh_by_alpha(picture: &mut RgbaImage) {
    for Rgba([red, green, blue, alpha]) in picture.pixels_mut() {
        for channel in [red, green, blue] {
            *channel = narrow((u16::from(*channel) * u16::from(*alpha) + 127) / 255);
        }
    }
}

/// Undoes [`weigh_by_alpha`].
fn unweigh_by_alpha(picture: &mut RgbaImage) {
    for Rgba([red, green, blue, alpha]) in picture.pixels_mut() {
        let alpha = u16::from(*alpha);
        for channel in [red, green, blue] {
            *channel = narrow((u16::from(*channel) * 255 + alpha / 2).checked_div(alpha).unwrap_or_default());
        }
    }
}

/// A level of eight bits; scaling may overshoot a little.
fn narrow(level: u16) -> u8 {
    u8::try_from(level).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests;
