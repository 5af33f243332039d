// The dimensions in which each road is walked: with and without JavaScript, by pointer or by keyboard alone, at three widths, in
// light and dark, in every language. Axe runs in both colour schemes, unless `schemes` says otherwise.

import { LANGUAGES } from "./phrases.mjs";

const SCRIPTS = [true, false];
const KEYBOARDS = [false, true];
const WIDTHS = [320, 390, 1280];
const SCHEMES = ["light", "dark"];

/** Every combination in English: 24. Each state is then seen in both colour schemes, so axe runs in one of them at a time. */
export const ALL = SCRIPTS.flatMap((scripts) =>
  KEYBOARDS.flatMap((keyboard) =>
    WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ scripts, keyboard, width, scheme, schemes: [scheme], language: "en" }))),
  ),
);

/** The fewest combinations in which every two values of two dimensions meet: each language at each width. */
export const PAIRWISE = WIDTHS.flatMap((width, row) =>
  LANGUAGES.map((language, column) => ({
    scripts: (row + column) % 2 === 0,
    keyboard: (row + Math.floor(column / 2)) % 2 === 1,
    width,
    scheme: SCHEMES[(row + (column > 2 ? 1 : 0)) % 2],
    language,
  })),
);

const pairs = (combinations) => {
  const values = (combination) => ["scripts", "keyboard", "width", "scheme", "language"].map((name) => `${name} ${combination[name]}`);
  const met = combinations.flatMap((combination) => values(combination).flatMap((one, at, all) => all.slice(at + 1).map((other) => `${one}, ${other}`)));
  return new Set(met);
};
const every = pairs(ALL.flatMap((combination) => LANGUAGES.map((language) => ({ ...combination, language }))));
const unmet = [...every].filter((pair) => !pairs(PAIRWISE).has(pair));
if (unmet.length > 0) throw new Error(`these values never meet: ${unmet.join("; ")}`);

/** The combination in which pictures are taken. Each is taken at two widths and in both schemes all the same. */
export const PICTURED = { scripts: true, keyboard: false, width: 390, scheme: "light", language: "en" };

export const describe = ({ scripts, keyboard, width, scheme, language }) =>
  `${language}-${scripts ? "js" : "nojs"}-${keyboard ? "keyboard" : "pointer"}-${width}-${scheme}`;
