//! Files that somebody made to do harm, or that are broken. Each is refused within a second, and for at most 64 MB. Both are measured
//! by the kernel: the time that this thread had a core, so that a busy machine does not matter, and the memory of the process. Another
//! test in the same process would be measured too; `cargo nextest` gives each its own.

use std::fs;

use super::*;

const MOST_KIB: u64 = 64_000_000 / 1024;
const MOST_NANOSECONDS: u64 = 1_000_000_000;

/// A number of this process, in KiB.
fn kibibytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The time for which this thread has had a core.
fn nanoseconds() -> u64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs a closure, and returns the nanoseconds and the KiB that it took beside its result.
fn measure<T>(run: impl FnOnce() -> T) -> (T, u64, u64) {
    // Forgets the peak so far.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let (memory, started) = (kibibytes("VmRSS:"), nanoseconds());
    let result = run();
    (result, nanoseconds() - started, kibibytes("VmHWM:").saturating_sub(memory))
}

/// Bytes that look random and are the same in every run.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

/// A zlib stream of this many zeros: one, and then copies of it, 258 at a time, in 13 bits each.
fn zeros(count: u64) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    let mut put = |code: &str| bits.extend(code.bytes().map(|bit| bit == b'1'));
    // The last block, with fixed codes; a literal 0.
    put("110");
    put("00110000");
    for _ in 0..(count - 1) / 258 {
        put("1100010100000");
    }
    for _ in 0..(count - 1) % 258 {
        put("00110000");
    }
    put("0000000");
    let bytes = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |byte, bit| (byte << 1) | u8::from(*bit)));
    let checksum = (u32::try_from(count % 65_521).unwrap() << 16) | 1;
    [0x78, 0x01].into_iter().chain(bytes).chain(checksum.to_be_bytes()).collect()
}

/// A PNG in RGB with these sides, whose pixels are black.
fn black_png(width: u32, height: u32) -> Vec<u8> {
    let mut file = hollow_png(width, height);
    file.truncate(file.len() - 12);
    let pixels = zeros(u64::from(height) * (u64::from(width) * 3 + 1));
    [file.as_slice(), &chunk(*b"IDAT", &pixels), &chunk(*b"IEND", &[])].concat()
}

/// A JPEG of 16 by 16 pixels that claims other sides, and to be of this kind (C0 is baseline, C2 progressive).
fn claiming_jpeg(kind: u8, width: u16, height: u16) -> Vec<u8> {
    let mut file = jpeg(&halves(16, 16));
    let frame = file.windows(2).position(|marker| marker == [0xFF, 0xC0]).unwrap();
    file[frame + 1] = kind;
    file[frame + 5..frame + 9].copy_from_slice(&[height.to_be_bytes(), width.to_be_bytes()].concat());
    file
}

fn truncated(name: &str, file: &[u8], upto: usize, count: usize) -> Vec<(String, Vec<u8>)> {
    (0..count).map(|at| at * upto / count).map(|length| (format!("{length} bytes of a {name}"), file[..length].to_vec())).collect()
}

fn cut_off() -> Vec<(String, Vec<u8>)> {
    let picture = RgbImage::from_fn(220, 220, |x, y| Rgb([u8::try_from(x * y % 251).unwrap(), u8::try_from(x % 256).unwrap(), 99]));
    let (png, webp, jpeg) = (png(&picture.clone().into()), webp(&picture), jpeg(&picture));
    // What there is of a JPEG's picture is shown, so it is cut off before.
    let scan = jpeg.windows(2).position(|marker| marker == [0xFF, 0xDA]).unwrap();
    let large = black_png(6_000, 3_000);
    [
        truncated("png", &png, png.len() * 9 / 10, 30),
        truncated("webp", &webp, webp.len() * 9 / 10, 30),
        truncated("jpeg", &jpeg, scan, 20),
        truncated("large png", &large, large.len(), 4),
        // It fails when all but the end of the largest picture has been decoded.
        vec![("a large png without its end".to_owned(), large[..large.len() - 100].to_vec())],
    ]
    .concat()
}

fn damaged() -> Vec<(String, Vec<u8>)> {
    let file = png(&halves(300, 300).into());
    let data = file.windows(4).position(|kind| kind == b"IDAT").unwrap() + 4;
    let flip = |at: usize| {
        let mut damaged = file.clone();
        damaged[at] ^= 0xFF;
        (format!("a png with a damaged byte {at}"), damaged)
    };
    (0..20).map(|step| flip(data + step * (file.len() - 16 - data) / 20)).collect()
}

fn bombs() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    // The last is 100 megapixels.
    for (width, height) in
        [(0, 0), (0, 9), (8_001, 1), (1, 8_001), (8_000, 8_000), (60_000, 60_000), (0x7FFF_FFFF, 0x7FFF_FFFF), (10_000, 10_000)]
    {
        found.push((format!("a png of {width} by {height}"), hollow_png(width, height)));
    }
    found.push(("a png of 6,000 by 3,000 without pixels".to_owned(), hollow_png(6_000, 3_000)));
    found.push(("100 black megapixels".to_owned(), black_png(10_000, 10_000)));
    for (kind, width, height) in [
        (0xC0, 0xFFFF, 0xFFFF),
        (0xC0, 10_000, 10_000),
        (0xC0, 8_000, 8_000),
        (0xC0, 0, 16),
        (0xC2, 0xFFFF, 0xFFFF),
        (0xC2, 10_000, 10_000),
        (0xC2, 5_000, 4_000),
    ] {
        found.push((format!("a jpeg {kind:X} of {width} by {height}"), claiming_jpeg(kind, width, height)));
    }
    for side in [4_000, 8_000, 10_000, 16_383] {
        found.push((format!("a webp with a frame of {side}"), lossy_webp(side)));
        found.push((format!("an animation with a frame of {side}"), animation(&[&lossy_frame(side)])));
    }
    let canvas = riff(*b"VP8X", &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    found.push(("a webp of 16 million by 16 million".to_owned(), riff(*b"RIFF", &[b"WEBP".as_slice(), &canvas].concat())));
    // Its decoder would build a table for every few bytes.
    let tables = [[0x2F, 0x0F, 0xC0, 0x03, 0x00].as_slice(), &noise(1, 200_000)].concat();
    found.push(("a webp of tables".to_owned(), riff(*b"RIFF", &[b"WEBP".as_slice(), &riff(*b"VP8L", &tables)].concat())));
    // A colour profile that is small in the file and large beyond it.
    let profile = chunk(*b"iCCP", &[b"x\0\0".as_slice(), &zeros(100_000_000)].concat());
    let mut file = hollow_png(100, 100);
    file.splice(33..33, profile);
    found.push(("a png with a large profile".to_owned(), file));
    found
}

fn other_types() -> Vec<(String, Vec<u8>)> {
    let files: [(&str, &[u8]); 16] = [
        ("svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"),
        ("svg with a head", b"<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY a \"b\">]><svg>&a;</svg>"),
        ("gif", b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;"),
        ("bmp", b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0"),
        ("tiff", b"II*\0\x08\0\0\0\0\0\0\0\0\0"),
        ("ico", b"\0\0\x01\0\x01\0\x01\x01\0\0\x01\0\x20\0\x30\0\0\0\x16\0\0\0"),
        ("avif", b"\0\0\0\x1cftypavif\0\0\0\0mif1miafMA1B"),
        ("mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom"),
        ("pdf", b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj"),
        ("html", b"<!doctype html><script>alert(1)</script>"),
        ("zip", b"PK\x03\x04\x14\0\0\0\x08\0"),
        ("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
        ("json", b"{\"logo\": \"data:image/png;base64,iVBORw0KGgo=\"}"),
        ("nothing", b""),
        ("a zero", b"\0"),
        ("wave", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0"),
    ];
    files.into_iter().map(|(name, file)| (name.to_owned(), file.to_vec())).collect()
}

/// Files of one type that begin like another, so that one reader sees this and another that.
fn polyglots() -> Vec<(String, Vec<u8>)> {
    let (png, jpeg, webp) = (png(&halves(30, 30).into()), jpeg(&halves(30, 30)), webp(&halves(30, 30)));
    let mut found = Vec::new();
    for (name, file) in [("png", &png), ("jpeg", &jpeg), ("webp", &webp)] {
        for (head, bytes) in [
            ("gif", b"GIF89a/*".as_slice()),
            ("html", b"<!--"),
            ("pdf", b"%PDF-1.7\n"),
            ("zip", b"PK\x03\x04"),
            ("script", b"#!/bin/sh\n"),
            ("space", b" "),
        ] {
            found.push((format!("a {name} behind {head}"), [bytes, file].concat()));
        }
    }
    found.push(("a jpeg behind the signature of a png".to_owned(), [&png[..8], &jpeg].concat()));
    found.push(("a webp behind the signature of a png".to_owned(), [&png[..8], &webp].concat()));
    found.push(("a png within a webp".to_owned(), riff(*b"RIFF", &[b"WEBP".as_slice(), &png].concat())));
    found.push(("a jpeg as the frame of a webp".to_owned(), riff(*b"RIFF", &[b"WEBP".as_slice(), &riff(*b"VP8 ", &jpeg)].concat())));
    found
}

/// Noise behind heads that are right.
fn noisy() -> Vec<(String, Vec<u8>)> {
    let head = hollow_png(64, 64);
    // Without the empty data at its end.
    let head = &head[..head.len() - 12];
    let noisy = |seed: u64| {
        let noise = noise(seed, 400);
        let frame =
            |kind: [u8; 4], first: u8| riff(*b"RIFF", &[b"WEBP".as_slice(), &riff(kind, &[[first].as_slice(), &noise].concat())].concat());
        let calm: Vec<u8> = noise.iter().map(|byte| byte & 0x7F).collect();
        [
            ("png of noise", [head, &chunk(*b"IDAT", &noise)].concat()),
            ("jpeg of noise", [b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".as_slice(), &calm].concat()),
            // Neither is a key frame, nor has it the signature of a lossless one.
            ("lossy webp of noise", frame(*b"VP8 ", 1)),
            ("lossless webp of noise", frame(*b"VP8L", 0)),
        ]
        .map(|(name, file)| (format!("{name} {seed}"), file))
    };
    (1..=14).flat_map(noisy).collect()
}

#[test]
fn two_hundred_malformed_pictures_are_refused_soon_and_for_little_memory() {
    let files = [cut_off(), damaged(), bombs(), other_types(), polyglots(), noisy()].concat();
    assert!(files.len() >= 200, "{}", files.len());
    let mut most = (0, 0);
    for (name, file) in &files {
        for (purpose, shrink) in [("photo", shrink_photo as fn(&[u8]) -> ImageResult<Vec<u8>>), ("logo", shrink_logo)] {
            let (result, took, memory) = measure(|| shrink(file));
            assert!(result.is_err(), "{name} as a {purpose} is taken");
            assert!(took <= MOST_NANOSECONDS, "{name} as a {purpose} took {took} ns");
            assert!(memory <= MOST_KIB, "{name} as a {purpose} took {memory} KiB");
            most = (most.0.max(took), most.1.max(memory));
        }
    }
    eprintln!(r#"{{"files":{},"most_ms":{},"most_kib":{}}}"#, files.len(), most.0 / 1_000_000, most.1);
}

#[test]
fn the_largest_picture_is_taken() {
    let file = black_png(6_000, 3_000);
    assert_eq!(copy(&file).dimensions(), (216, 108));
    assert_eq!(image::load_from_memory(&shrink_logo(&file).unwrap()).unwrap().into_rgba8().dimensions(), (180, 90));
    assert!(shrink_photo(&black_png(6_000, 3_001)).is_err());
}
