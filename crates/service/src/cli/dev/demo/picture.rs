//! The story as a picture: an SVG that looks like the terminal.

use std::fmt::Write as _;

use super::teller::{Line, Tone};

/// The size of a letter and of a line, in pixels.
const LETTER: f64 = 8.1;
const LINE: f64 = 19.0;
/// The space around the text.
const MARGIN: f64 = 20.0;

/// Draws the lines.
pub(super) fn draw(lines: &[Line]) -> String {
    let columns = lines.iter().map(|line| line.iter().map(|(_, text)| text.chars().count()).sum::<usize>()).max().unwrap_or_default();
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let (width, height) = (count(columns) * LETTER + 2.0 * MARGIN, count(lines.len()) * LINE + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"backhaul demo\">\n\
         <style>text {{ font: 13.5px ui-monospace, Menlo, Consolas, monospace; white-space: pre; fill: #d7dae0 }} \
         .bold {{ font-weight: 700; fill: #fff }} .dim {{ fill: #8b92a0 }} .good {{ fill: #6bd38a }} .odd {{ fill: #f0b866 }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#1c1f26\"/>\n"
    );
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = MARGIN + count(at) * LINE + LINE * 0.8;
        let _ = write!(svg, "<text x=\"{MARGIN:.0}\" y=\"{y:.1}\" xml:space=\"preserve\">");
        for (tone, text) in line {
            let class = match tone {
                Tone::Plain => None,
                Tone::Bold => Some("bold"),
                Tone::Dim => Some("dim"),
                Tone::Good => Some("good"),
                Tone::Odd => Some("odd"),
            };
            let text = escaped(text);
            let _ = match class {
                Some(class) => write!(svg, "<tspan class=\"{class}\">{text}</tspan>"),
                None => write!(svg, "{text}"),
            };
        }
        svg.push_str("</text>\n");
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_every_line_in_its_tones() {
        let lines =
            [vec![(Tone::Bold, "1  A & B".to_owned())], vec![], vec![(Tone::Plain, " -> ".to_owned()), (Tone::Good, "200".to_owned())]];
        let svg = draw(&lines);
        let texts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text")).collect();
        assert_eq!(
            texts,
            [
                r#"<text x="20" y="35.2" xml:space="preserve"><tspan class="bold">1  A &amp; B</tspan></text>"#,
                r#"<text x="20" y="73.2" xml:space="preserve"> -&gt; <tspan class="good">200</tspan></text>"#,
            ]
        );
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("viewBox=\"0 0 105 97\""), "{svg}");
    }
}
