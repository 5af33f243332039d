// The dimensions in which each road through the console is walked: with and without JavaScript, on a phone and on a desktop, in light
// and dark. Always by keyboard alone, and in English.

const SCRIPTS = [true, false];
const WIDTHS = [390, 1280];
const SCHEMES = ["light", "dark"];

const combination = (scripts, width, scheme) => ({ scripts, keyboard: true, width, scheme, schemes: [scheme], language: "en" });

/** Every combination: 8. */
export const COMBINATIONS = SCRIPTS.flatMap((scripts) => WIDTHS.flatMap((width) => SCHEMES.map((scheme) => combination(scripts, width, scheme))));

/** The fewest combinations in which every two values of two dimensions meet. Axe runs in both colour schemes of each. */
export const PAIRS = WIDTHS.flatMap((width, row) =>
  SCHEMES.map((scheme, column) => ({ ...combination((row + column) % 2 === 0, width, scheme), schemes: SCHEMES })),
);

/** The combination in which pictures are taken. Each is taken at two widths and in both schemes all the same. */
export const PICTURED = combination(true, 390, "light");

export const describe = ({ scripts, width, scheme }) => `${scripts ? "js" : "nojs"}-${width}-${scheme}`;
