//! A one-page PDF with text and filled rectangles. The fonts are built into every PDF reader.

use std::fmt::Write as _;

/// A page to draw on. Coordinates are in points (72 to the inch) from the lower left corner.
#[derive(Default)]
pub(super) struct Page {
    content: String,
}

/// The font's weight.
#[derive(Clone, Copy)]
pub(super) enum Weight {
    Regular,
    Bold,
}

impl Page {
    /// Draws a line of text that begins here.
    pub(super) fn text(&mut self, x: usize, y: usize, size: usize, weight: Weight, text: &str) {
        let font = match weight {
            Weight::Regular => "F1",
            Weight::Bold => "F2",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.content, "BT /{font} {size} Tf {x} {y} Td ({}) Tj ET", escaped(text));
    }

    /// Draws a black rectangle with its lower left corner here.
    pub(super) fn rectangle(&mut self, x: usize, y: usize, width: usize, height: usize) {
        let _ = writeln!(self.content, "{x} {y} {width} {height} re f");
    }

    /// Builds the document.
    pub(super) fn finish(self, width: usize, height: usize) -> Vec<u8> {
        let font = |name| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> /Contents 6 0 R >>"
        );
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            page,
            font("Helvetica"),
            font("Helvetica-Bold"),
            format!("<< /Length {} >>\nstream\n{}endstream", self.content.len(), self.content),
        ];
        let mut document = "%PDF-1.4\n".to_owned();
        // The offset of each object. Entry zero is the head of the list of free objects, which is empty.
        let mut places = "0000000000 65535 f \n".to_owned();
        for (index, object) in objects.iter().enumerate() {
            let _ = writeln!(places, "{:010} 00000 n ", document.len());
            let _ = write!(document, "{} 0 obj\n{object}\nendobj\n", index + 1);
        }
        let (count, start) = (objects.len() + 1, document.len());
        let _ = write!(document, "xref\n0 {count}\n{places}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
        document.into_bytes()
    }
}

/// Escapes a text for a PDF string. Characters outside the encoding become question marks.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, letter| {
        match letter {
            '(' | ')' | '\\' => escaped.extend(['\\', letter]),
            ' '..='~' => escaped.push(letter),
            '\u{a0}'..='\u{ff}' => _ = write!(escaped, "\\{:03o}", u32::from(letter)),
            _ => escaped.push('?'),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_stays_within_its_brackets() {
        assert_eq!(escaped("a (b) \\ c"), "a \\(b\\) \\\\ c");
        assert_eq!(escaped("Zoë\n日"), "Zo\\353??");
    }

    proptest! {
        #[test]
        fn every_text_is_plain_and_leaves_no_bracket_open(text in any::<String>()) {
            let escaped = escaped(&text);
            prop_assert!(escaped.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            let bare = escaped.replace("\\\\", "").replace("\\(", "").replace("\\)", "");
            prop_assert!(!bare.contains(['(', ')']));
        }

        #[test]
        fn every_object_is_where_the_table_says(text in any::<String>()) {
            let mut page = Page::default();
            page.text(1, 2, 3, Weight::Bold, &text);
            let document = String::from_utf8(page.finish(10, 20)).unwrap();
            let start: usize = document.lines().rev().nth(1).unwrap().parse().unwrap();
            let places = document[start..].lines().skip(3).take(6);
            for (index, place) in places.enumerate() {
                let object = &document[place[..10].parse::<usize>().unwrap()..];
                let begins = object.starts_with(&format!("{} 0 obj\n<<", index + 1));
                prop_assert!(begins);
            }
        }
    }
}
