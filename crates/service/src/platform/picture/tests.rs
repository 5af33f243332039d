use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::error::LimitErrorKind;
use image::{ExtendedColorType, ImageEncoder as _, ImageError, ImageFormat, Rgb, RgbImage, RgbaImage};

use super::*;

#[cfg(target_os = "linux")]
mod malformed;

const RED: Rgb<u8> = Rgb([220, 20, 30]);
const BLUE: Rgb<u8> = Rgb([20, 30, 220]);
/// A word in metadata that nobody may see.
const HIDDEN: &[u8] = b"hidden7f3a";

/// A picture whose left half is red and whose right half is blue.
fn halves(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { RED } else { BLUE })
}

fn png(picture: &DynamicImage) -> Vec<u8> {
    let mut file = Vec::new();
    picture.write_with_encoder(PngEncoder::new(&mut file)).unwrap();
    file
}

fn jpeg(picture: &RgbImage) -> Vec<u8> {
    jpeg_with(picture, Vec::new())
}

fn jpeg_with(picture: &RgbImage, exif: Vec<u8>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut file, 95);
    encoder.set_exif_metadata(exif).unwrap();
    picture.write_with_encoder(encoder).unwrap();
    file
}

fn webp(picture: &RgbImage) -> Vec<u8> {
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    WebPEncoder::new_lossless(&mut file).encode(picture, width, height, ExtendedColorType::Rgb8).unwrap();
    file
}

/// The copy of a file, decoded.
fn copy(file: &[u8]) -> RgbImage {
    let copy = shrink_photo(file).unwrap();
    assert_eq!(image::guess_format(&copy).unwrap(), ImageFormat::Jpeg);
    image::load_from_memory(&copy).unwrap().into_rgb8()
}

/// JPEG changes colours a little.
fn is_about(found: Rgb<u8>, expected: Rgb<u8>) -> bool {
    found.0.iter().zip(expected.0).all(|(found, expected)| found.abs_diff(expected) < 16)
}

fn find(file: &[u8], word: &[u8]) -> bool {
    file.windows(word.len()).any(|window| window == word)
}

/// A chunk of a PNG, with its checksum.
fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [kind.as_slice(), data].concat();
    let crc = !body.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    [u32::try_from(data.len()).unwrap().to_be_bytes().as_slice(), &body, &crc.to_be_bytes()].concat()
}

/// The beginning of a PNG in RGB that claims to be this large, without any pixel.
fn hollow_png(width: u32, height: u32) -> Vec<u8> {
    let header = [width.to_be_bytes().as_slice(), &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".as_slice(), &chunk(*b"IHDR", &header), &chunk(*b"IDAT", &[])].concat()
}

/// An EXIF block with an orientation, and a camera with a name.
fn exif(orientation: u8) -> Vec<u8> {
    let entries: [&[u8]; 2] = [&[0x01, 0x0F, 0, 2, 0, 0, 0, 10, 0, 0, 0, 38], &[0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]];
    [b"MM\0\x2a\0\0\0\x08\0\x02".as_slice(), entries[0], entries[1], &[0; 4], HIDDEN].concat()
}

#[test]
fn png_jpeg_and_webp_are_scaled_to_fit() {
    let picture = halves(1_000, 500);
    for (kind, file) in [("png", png(&picture.clone().into())), ("jpeg", jpeg(&picture)), ("webp", webp(&picture))] {
        let copy = copy(&file);
        assert_eq!(copy.dimensions(), (216, 108), "{kind}");
        assert!(is_about(*copy.get_pixel(40, 50), RED) && is_about(*copy.get_pixel(170, 50), BLUE), "{kind}");
    }
    assert_eq!(copy(&jpeg(&halves(300, 3_000))).dimensions(), (22, 216));
}

#[test]
fn a_small_picture_keeps_its_size() {
    assert_eq!(copy(&png(&halves(216, 100).into())).dimensions(), (216, 100));
    let dot = copy(&png(&RgbImage::from_pixel(1, 1, BLUE).into()));
    assert_eq!(dot.dimensions(), (1, 1));
    assert!(is_about(*dot.get_pixel(0, 0), BLUE));
    assert_eq!(copy(&png(&halves(8_000, 1).into())).dimensions(), (216, 1), "a line stays visible");
}

#[test]
fn transparency_becomes_white() {
    // Transparent pixels have a colour too, which must not show, not even at an edge.
    let picture = RgbaImage::from_fn(432, 432, |x, _| if x < 144 { Rgba([255, 0, 0, 0]) } else { Rgba([0, 0, 0, 128]) });
    let copy = copy(&png(&picture.into()));
    assert!(is_about(*copy.get_pixel(10, 100), Rgb([255; 3])), "what is transparent is white");
    assert!(is_about(*copy.get_pixel(200, 100), Rgb([127; 3])), "half of black on white is grey");
    assert!(copy.pixels().all(|Rgb([red, green, _])| red.abs_diff(*green) < 16), "nothing is red");
}

#[test]
fn grey_and_deep_pictures_become_rgb() {
    let grey = image::GrayImage::from_pixel(300, 300, image::Luma([90]));
    assert!(is_about(*copy(&png(&grey.into())).get_pixel(100, 100), Rgb([90; 3])));
    let deep = image::ImageBuffer::from_pixel(300, 300, Rgba([0x1414_u16, 0x1E1E, 0xDCDC, u16::MAX]));
    assert!(is_about(*copy(&png(&DynamicImage::ImageRgba16(deep))).get_pixel(100, 100), BLUE));
}

#[test]
fn metadata_is_gone_and_the_picture_upright() {
    let file = jpeg_with(&halves(400, 200), exif(6));
    assert!(find(&file, HIDDEN) && find(&file, b"Exif"));
    let upright = shrink_photo(&file).unwrap();
    assert!(!find(&upright, HIDDEN) && !find(&upright, b"Exif"));
    // Orientation 6 means that the camera was turned: the left side is the top.
    let upright = image::load_from_memory(&upright).unwrap().into_rgb8();
    assert_eq!(upright.dimensions(), (108, 216));
    assert!(is_about(*upright.get_pixel(50, 20), RED) && is_about(*upright.get_pixel(50, 200), BLUE));
    let text = chunk(*b"tEXt", &[b"Comment\0".as_slice(), HIDDEN].concat());
    let mut file = png(&halves(10, 10).into());
    file.splice(33..33, text);
    assert!(find(&file, HIDDEN));
    assert!(!find(&shrink_photo(&file).unwrap(), HIDDEN));
}

#[test]
fn what_is_behind_a_picture_does_not_survive() {
    let file = [jpeg(&halves(300, 300)).as_slice(), b"<script>", HIDDEN].concat();
    assert!(!find(&shrink_photo(&file).unwrap(), HIDDEN));
}

/// A chunk of a WebP, padded to an even length.
fn riff(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_le_bytes();
    [kind.as_slice(), &length, data, &vec![0; data.len() % 2]].concat()
}

/// A WebP of 300 by 300 pixels with these flags and chunks.
fn extended_webp(flags: u8, chunks: &[u8]) -> Vec<u8> {
    let canvas = riff(*b"VP8X", &[flags, 0, 0, 0, 43, 1, 0, 43, 1, 0]);
    riff(*b"RIFF", &[b"WEBP".as_slice(), &canvas, chunks].concat())
}

/// A WebP of 300 by 300 pixels with these frames, each a chunk.
fn animation(frames: &[&[u8]]) -> Vec<u8> {
    let (no_offset, size, delay) = ([0; 6], [43, 1, 0, 43, 1, 0], [100, 0, 0, 0]);
    let frames = frames.iter().flat_map(|frame| riff(*b"ANMF", &[no_offset.as_slice(), &size, &delay, frame].concat()));
    extended_webp(0b10, &riff(*b"ANIM", &[0; 6]).into_iter().chain(frames).collect::<Vec<_>>())
}

/// The beginning of a lossy frame with sides of this length.
fn lossy_frame(side: u16) -> Vec<u8> {
    let side = side.to_le_bytes();
    riff(*b"VP8 ", &[[0x10, 0, 0, 0x9D, 0x01, 0x2A].as_slice(), &side, &side, &[0; 16]].concat())
}

/// A WebP of 300 by 300 pixels whose frame has sides of this length.
fn lossy_webp(side: u16) -> Vec<u8> {
    extended_webp(0, &lossy_frame(side))
}

#[test]
fn the_first_frame_stands_for_an_animation() {
    let [red, blue] = [RED, BLUE].map(|colour| webp(&RgbImage::from_pixel(300, 300, colour)));
    let copy = copy(&animation(&[&red[12..], &blue[12..]]));
    assert_eq!(copy.dimensions(), (216, 216));
    assert!(is_about(*copy.get_pixel(100, 100), RED));
}

#[test]
fn a_webp_that_claims_large_metadata_is_shown() {
    let file = webp(&RgbImage::from_pixel(300, 300, RED));
    let claimed = [b"EXIF".as_slice(), &u32::MAX.to_le_bytes()].concat();
    let file = extended_webp(0b1000, &[&file[12..], &claimed].concat());
    assert!(is_about(*copy(&file).get_pixel(100, 100), RED));
}

#[test]
fn a_picture_that_is_too_large_is_refused_before_it_is_decoded() {
    // Each says in a few bytes that it is large. Decoded, they would fill gigabytes.
    let mut wide_jpeg = jpeg(&halves(16, 16));
    let frame = wide_jpeg.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    wide_jpeg[frame + 5..frame + 9].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF]);
    let mut wide_webp = webp(&halves(16, 16));
    // A width of 14 bits, less one, after the heads of the file and the chunk and a byte that every one has.
    wide_webp[21..23].copy_from_slice(&[0xFE, 0xFF]);
    for (kind, file, expected) in [
        ("a side of 60,000", hollow_png(60_000, 60_000), LimitErrorKind::DimensionError),
        ("a side of 8,001", hollow_png(8_001, 1), LimitErrorKind::DimensionError),
        ("8,000 by 8,000", hollow_png(8_000, 8_000), LimitErrorKind::InsufficientMemory),
        ("a jpeg of 65,535 by 65,535", wide_jpeg, LimitErrorKind::DimensionError),
        ("a webp with a frame of 16,383 by 16,383", lossy_webp(16_383), LimitErrorKind::DimensionError),
        ("an animation with one", animation(&[&lossy_frame(16_383)]), LimitErrorKind::DimensionError),
        ("a webp of 16,383 by 16", wide_webp, LimitErrorKind::DimensionError),
    ] {
        match shrink_photo(&file) {
            Err(ImageError::Limits(error)) => assert_eq!(error.kind(), expected, "{kind}"),
            other => panic!("{kind}: {other:?}"),
        }
    }
    // These fail for what they lack.
    for file in [hollow_png(6_000, 3_000), lossy_webp(4_000), animation(&[&lossy_frame(4_000)])] {
        assert!(!matches!(shrink_photo(&file), Ok(_) | Err(ImageError::Limits(_))));
    }
}

#[test]
fn a_file_of_another_type_is_refused_whatever_it_is() {
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;";
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let bmp = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0";
    for file in [gif.as_slice(), svg, bmp, b"", b"\0", b"<!doctype html>", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBP"] {
        assert!(shrink_photo(file).is_err(), "{}", file.escape_ascii());
    }
}

#[test]
fn a_file_that_is_cut_off_or_damaged_does_no_harm() {
    let picture = RgbImage::from_fn(220, 220, |x, y| Rgb([u8::try_from(x * y % 251).unwrap(), u8::try_from(x % 256).unwrap(), 99]));
    for (kind, file) in [("png", png(&picture.clone().into())), ("webp", webp(&picture))] {
        assert!(shrink_photo(&file).is_ok(), "{kind}");
        for length in (0..file.len() * 9 / 10).step_by(file.len() / 50) {
            assert!(shrink_photo(&file[..length]).is_err(), "the first {length} bytes of a {kind}");
        }
    }
    // What there is of a JPEG is shown, as browsers do.
    let file = jpeg(&picture);
    assert_eq!(copy(&file[..file.len() / 2]).dimensions(), (216, 216));
    assert!(shrink_photo(&file[..100]).is_err());
    for file in [png(&picture.clone().into()), webp(&picture), file] {
        for at in (0..file.len()).step_by(file.len() / 100) {
            let mut damaged = file.clone();
            damaged[at] ^= 0xFF;
            // Either result will do, as long as there is one.
            if let Ok(copy) = shrink_photo(&damaged) {
                assert!(image::load_from_memory(&copy).is_ok());
            }
        }
    }
}

#[test]
fn a_logo_is_scaled_to_fit_and_keeps_its_transparency() {
    let logo = |file: &[u8]| {
        let copy = shrink_logo(file).unwrap();
        assert_eq!(image::guess_format(&copy).unwrap(), ImageFormat::Png);
        image::load_from_memory(&copy).unwrap().into_rgba8()
    };
    let picture = halves(1_000, 500);
    for (kind, file) in [("png", png(&picture.clone().into())), ("jpeg", jpeg(&picture)), ("webp", webp(&picture))] {
        assert_eq!(logo(&file).dimensions(), (180, 90), "{kind}");
    }
    assert_eq!(logo(&png(&halves(2_000, 100).into())).dimensions(), (480, 24));
    assert_eq!(logo(&png(&halves(90, 30).into())).dimensions(), (90, 30), "a small one keeps its size");
    // Transparent pixels have a colour too, which must not show, not even at an edge.
    let cut_out = RgbaImage::from_fn(960, 180, |x, _| if x < 320 { Rgba([255, 0, 0, 0]) } else { Rgba([0, 0, 200, 255]) });
    let copy = logo(&png(&cut_out.into()));
    assert_eq!((copy.get_pixel(10, 40).0[3], copy.get_pixel(400, 40)), (0, &Rgba([0, 0, 200, 255])));
    assert!(copy.pixels().all(|Rgba([red, _, _, alpha])| *alpha == 0 || *red < 16));
    let upright = logo(&jpeg_with(&halves(400, 200), exif(6)));
    assert_eq!(upright.dimensions(), (45, 90), "the camera was turned");
}

#[test]
fn the_decoder_of_a_jpeg_needs_more_unless_it_comes_in_one_scan() {
    let mut file = jpeg(&halves(16, 16));
    assert_eq!(jpeg::beside(&file), 0);
    let [frame, scan] = [0xC0, 0xDA].map(|kind| file.windows(2).position(|marker| marker == [0xFF, kind]).unwrap());
    assert_eq!(jpeg::beside(&file[..scan]), 6, "no scan");
    file[scan + 4] = 1;
    assert_eq!(jpeg::beside(&file), 6, "a scan for each component");
    file[frame + 1] = 0xC2;
    assert_eq!(jpeg::beside(&file), 6, "progressive");
    file[2] = 0;
    assert_eq!(jpeg::beside(&file), 8, "not told");
    assert_eq!([jpeg::beside(&[]), jpeg::beside(&[0xFF, 0xD8, 0xFF, 0xE0, 0, 0])], [8, 8]);
}
