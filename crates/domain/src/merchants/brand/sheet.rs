//! The style sheet of a brand.

use super::{Brand, Palette};

/// The radius of pill buttons, in pixels: more than half the height of any button.
const PILL: u8 = 99;

impl Brand {
    /// The radius of buttons, in pixels.
    #[must_use]
    pub const fn button_radius(self) -> u8 {
        if self.pill_buttons { PILL } else { self.radius.get() }
    }

    /// The style sheet that sets the brand's variables, and nothing else. Equal brands have equal texts, so that its hash can name it.
    #[must_use]
    pub fn style_sheet(self) -> String {
        let radius = self.radius.get();
        let button = self.button_radius();
        let (light, dark) = (variables(&self.light()), variables(&self.dark()));
        format!(":root{{{light};--radius:{radius}px;--radius-btn:{button}px}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
    }
}

fn variables(palette: &Palette) -> String {
    let Palette { accent, accent_hover, on_accent, accent_edge, accent_text, accent_soft } = palette;
    let edge = accent_edge.map_or_else(|| "transparent".to_owned(), |edge| edge.to_string());
    format!(
        "--accent:{accent};--accent-hover:{accent_hover};--on-accent:{on_accent};--accent-edge:{edge};--accent-text:{accent_text};--accent-soft:{accent_soft}"
    )
}
