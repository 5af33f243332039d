// The checks of every page and state: accessibility, targets, focus, reflow, motion, privacy and sizes.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

import { PSEUDO } from "./phrases.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The least height of targets in CSS pixels, unless a page has rules of its own: of links, and of buttons, fields and options. */
const LEAST = { link: 24, button: 44 };
/** What can be operated. */
export const OPERABLE = "a[href], button, input, select, textarea, summary";
/** The longest time that a transition takes, in milliseconds. */
const BEGUN_ENDS = 300;
/** A page of 1280 px at 400 % zoom. */
const NARROWEST = 320;

/** The most bytes after compression, by media type. */
const MOST_BYTES = { "text/html": 25_000, "text/css": 12_000, "text/javascript": 10_000 };

/** The faults of the page as it is, and the number of violations that axe found in these colour schemes. The address and the title have
 * nothing that is `personal`, and no target is smaller than `least`. */
export async function inspect(page, { scheme, schemes, language, personal = [], least = LEAST }) {
  const violations = await violated(page, scheme, schemes);
  const faults = [
    ...violations,
    ...(await page.evaluate(smallTargets, [OPERABLE, least])),
    ...(await lostFocus(page)),
    ...(await overflow(page)),
    ...(await motion(page)),
    ...(await told(page, language, personal)),
    ...(language === PSEUDO ? await page.evaluate(untranslated) : []),
  ];
  return { faults, violations: violations.length };
}

/** Runs axe in each of these colour schemes, and goes back to `scheme`. */
async function violated(page, scheme, schemes) {
  const found = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    await page.evaluate(AXE);
    const violations = await page.evaluate(async (values) => {
      const { violations } = await axe.run(document, { runOnly: { type: "tag", values }, rules: { "target-size": { enabled: true } }, preload: false });
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
    }, RULES);
    found.push(...violations.map((violation) => `axe, ${colorScheme}: ${violation}`));
  }
  await page.emulateMedia({ colorScheme: scheme });
  return found;
}

/** Runs in the page: the targets that are too small. Links in sentences may be, and the skip link is shown when it has the focus. */
function smallTargets([operable, least]) {
  const faults = [];
  const inSentence = (link) => getComputedStyle(link).display === "inline" && link.parentElement.innerText.trim() !== link.innerText.trim();
  for (const element of document.querySelectorAll(operable)) {
    const target = element.matches("[type=radio], [type=checkbox]") ? (element.closest("label") ?? element) : element;
    const { width, height, bottom } = target.getBoundingClientRect();
    if (element.type === "hidden" || !element.checkVisibility() || bottom + scrollY <= 0 || inSentence(element)) continue;
    // A box without a label around it is as small as a browser draws it; axe checks that it is far enough from others.
    const wanted = element.matches("a:not(.btn)") || target.matches("input[type=checkbox]") ? least.link : least.button;
    if (height < wanted - 0.5 || width < Math.min(wanted, 24)) {
      const name = (target.innerText || element.name || element.tagName).trim().slice(0, 40);
      faults.push(`target ${JSON.stringify(name)} is ${Math.round(width)} × ${Math.round(height)} px, not ${wanted}`);
    }
  }
  return faults;
}

/** Tabs through the page: everything that can be operated is reached, and shows that it has the focus. */
async function lostFocus(page) {
  const wanted = await page.evaluate((selector) => {
    const groups = new Set();
    const operable = [...document.querySelectorAll(`${selector}, [tabindex="0"]`)].filter((element) => {
      if (element.type === "hidden" || element.disabled || !element.checkVisibility()) return false;
      // The browser stops once in a group of radio buttons.
      if (element.type !== "radio") return true;
      const stop = element.form.querySelector(`[name="${element.name}"]:checked`) ?? element;
      return stop === element && !groups.has(element.name) && groups.add(element.name);
    });
    window.tabStops = new Map(operable.map((element) => [element, "never gets the focus"]));
    // Each part of a date is a stop.
    return operable.length + 7 * operable.filter(({ type }) => ["date", "datetime-local"].includes(type)).length;
  }, OPERABLE);
  for (let pressed = 0; pressed < wanted + 3; pressed += 1) {
    await page.keyboard.press("Tab");
    await page.evaluate(() => {
      const focused = document.activeElement;
      const group = focused.type === "radio" && [...window.tabStops.keys()].find((stop) => stop.type === "radio" && stop.name === focused.name);
      const stop = group || focused;
      if (!window.tabStops.get(stop)) return;
      // A choice is drawn around its input, so the ring may be on an element around the one that has the focus.
      const around = [focused, focused.parentElement, focused.parentElement?.parentElement];
      const ringed = around.some((element) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
      });
      window.tabStops.set(stop, ringed ? "" : "does not show that it has the focus");
    });
  }
  return page.evaluate(() => {
    const name = (element) => (element.closest("label")?.innerText || element.innerText || element.name || element.tagName).trim().slice(0, 40);
    return [...window.tabStops].filter(([, fault]) => fault).map(([element, fault]) => `${JSON.stringify(name(element))} ${fault}`);
  });
}

/** At 400 % zoom nothing has to be scrolled sideways. */
async function overflow(page) {
  const before = page.viewportSize();
  await page.setViewportSize({ width: NARROWEST, height: before.height });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.setViewportSize(before);
  return wide > NARROWEST ? [`the page is ${wide} px wide at ${NARROWEST} px`] : [];
}

/** Waits until transitions that have begun are over. What never ends is not waited for. */
async function settled(page) {
  await page.evaluate((most) => {
    const ended = Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    return Promise.race([ended, new Promise((passed) => setTimeout(passed, most))]).then(() => {});
  }, BEGUN_ENDS);
}

/** Nothing moves for those who want less motion. */
async function motion(page) {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await settled(page);
  const moving = await page.evaluate(() => document.getAnimations().filter((animation) => animation.playState === "running").length);
  await page.emulateMedia({ reducedMotion: null });
  return moving ? [`${moving} animations run in spite of reduced motion`] : [];
}

/** Runs in a page in the made-up language: what is plain English and is no value, date or name, and so comes from no text. */
function untranslated() {
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (parentElement.closest("bdi, time, [lang]:not(html)")) continue;
    if (/[aeiouns]/i.test(data.replace(/\u2068[^\u2069]*\u2069/g, ""))) faults.push(`${JSON.stringify(data.trim())} is not translated`);
  }
  return faults;
}

/** The address and the title tell nothing about the shopper; the page is in the language, has one heading, and every picture that it
 * refers to. */
async function told(page, language, personal) {
  const [title, shown, headings, missing] = await page.evaluate(() => [
    document.title,
    document.documentElement.lang,
    document.querySelectorAll("h1").length,
    [...document.images].filter((image) => image.complete && image.naturalWidth === 0).length,
  ]);
  const where = `${decodeURIComponent(page.url())} ${title}`.toLowerCase();
  const faults = personal.filter((words) => where.includes(words.toLowerCase())).map((words) => `the address or the title has ${words}`);
  if (!title.trim()) faults.push("the page has no title");
  if (shown !== language) faults.push(`the page is in ${shown || "no language"}, not in ${language}`);
  if (headings !== 1) faults.push(`the page has ${headings} headings`);
  if (missing) faults.push(`${missing} pictures are missing`);
  return faults;
}

/** The media type of a response and its bytes after compression, if there is a limit for them. */
export async function measure(response) {
  const type = (response.headers()["content-type"] ?? "").split(";")[0];
  if (!(type in MOST_BYTES) || (response.status() >= 300 && response.status() < 400)) return undefined;
  return { type, bytes: gzipSync(await response.body()).length };
}

/** The fault of a response that is too large. */
export const oversize = ({ type, bytes }) =>
  bytes > MOST_BYTES[type] ? [`${type} is ${bytes} bytes compressed, more than ${MOST_BYTES[type]}`] : [];
