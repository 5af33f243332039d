// The dimensions in which each road is walked: with and without JavaScript, by pointer or by keyboard alone, at three widths, in
// light and dark. Axe runs in both colour schemes, unless `schemes` says otherwise.

const SCRIPTS = [true, false];
const KEYBOARDS = [false, true];
const WIDTHS = [320, 390, 1280];
const SCHEMES = ["light", "dark"];

/** Every combination: 24. Each state is then seen in both colour schemes, so axe runs in one of them at a time. */
export const ALL = SCRIPTS.flatMap((scripts) =>
  KEYBOARDS.flatMap((keyboard) =>
    WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ scripts, keyboard, width, scheme, schemes: [scheme] }))),
  ),
);

/** The fewest combinations in which every two values of two dimensions meet. */
export const PAIRWISE = [
  { scripts: true, keyboard: false, width: 320, scheme: "light" },
  { scripts: false, keyboard: true, width: 320, scheme: "dark" },
  { scripts: true, keyboard: true, width: 390, scheme: "dark" },
  { scripts: false, keyboard: false, width: 390, scheme: "light" },
  { scripts: true, keyboard: false, width: 1280, scheme: "dark" },
  { scripts: false, keyboard: true, width: 1280, scheme: "light" },
];

/** The combination in which pictures are taken. Each is taken at two widths and in both schemes all the same. */
export const PICTURED = { scripts: true, keyboard: false, width: 390, scheme: "light" };

export const describe = ({ scripts, keyboard, width, scheme }) =>
  `${scripts ? "js" : "nojs"}-${keyboard ? "keyboard" : "pointer"}-${width}-${scheme}`;
