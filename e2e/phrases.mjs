// What the pages say, in every language. Roads are written in English; this finds the same words in the language of a walk, in the files
// in which the service has its texts.
//
// A phrase is a text as the page shows it, such as "Find my order", with its values ("Exchange for 43"), or several in a row
// ("Price $50.00"). What is no text, such as a title, stays as it is. An ellipsis stands for anything.

import { readFileSync, readdirSync } from "node:fs";

const TEXTS = new URL("../crates/service/texts/", import.meta.url);

/** The made-up language: English with accents, longer, from right to left. Its rule is that of platform/texts/pseudo.rs. */
export const PSEUDO = "en-XB";
const ACCENTED = Object.fromEntries([..."aeiounsAEIOUNS"].map((letter, at) => [letter, [..."áéíöüñšÁÉÍÖÜÑŠ"][at].repeat(2)]));
const lengthen = (text) => text.replace(/[aeiouns]/gi, (letter) => ACCENTED[letter]);

/** The languages of the portal, English first. */
export const LANGUAGES = ["en", ...readdirSync(TEXTS).map((file) => file.replace(".ftl", "")).filter((code) => code !== "en").sort(), PSEUDO];

/** The values that are numbers. Others can be anything. */
const NUMBERS = new Set(["units", "quantity", "step", "item", "items", "left", "returns", "days"]);
const MONEY = /^\$[\d,]+\.\d\d$/;
/** The marks around values in right-to-left languages. */
const MARKS = /[\u2068\u2069]/g;

/** A page's text with single spaces, without marks. */
export const plain = (text) => text.replace(MARKS, "").replace(/\s+/g, " ").trim();

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The texts of a file by key: what selects among them, if anything, and each variant by its name. */
function read(language) {
  const source = readFileSync(new URL(`${language === PSEUDO ? "en" : language}.ftl`, TEXTS), "utf8");
  const texts = new Map();
  for (const [, key, text] of source.matchAll(/^([a-zA-Z][\w-]*) =((?:.*(?:\n(?: .*|}|$))*))/gm)) {
    const selected = /^\s*\{ \$(\w+) ->/.exec(text);
    const variants = selected ? text.matchAll(/^\s*\*?\[(\w+)\] (.*)$/gm) : [[, "other", text]];
    texts.set(key, { by: selected?.[1], variants: new Map([...variants].map(([, name, words]) => [name, plain(words.replace(/<[^>]*>/g, ""))])) });
  }
  return texts;
}

/** A regular expression for an English text, whose groups are its values. Texts that are nothing but values have none. */
function matcher(words) {
  const parts = words.split(/\{ \$(\w+) \}/);
  if (!parts.some((part, at) => at % 2 === 0 && /[a-z−]/i.test(part))) return undefined;
  const group = (name, at) => (parts.indexOf(name) < at ? `\\k<${name}>` : `(?<${name}>${NUMBERS.has(name) ? "\\d+" : ".+"})`);
  return new RegExp(`^${parts.map((part, at) => (at % 2 ? group(part, at) : escape(part))).join("")}$`);
}

const ENGLISH = [...read("en")].flatMap(([key, { variants }]) => {
  return [...variants].map(([variant, words]) => ({ key, variant, matches: matcher(words) })).filter(({ matches }) => matches);
});

export class Phrases {
  #texts;
  #plural;
  #decimals;

  constructor(language) {
    this.language = language;
    this.#texts = read(language);
    const locale = language === PSEUDO ? "en" : language;
    this.#plural = new Intl.PluralRules(locale);
    this.#decimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 });
  }

  /** A regular expression for `phrase` anywhere. */
  anywhere(phrase) {
    const parts = (words) => words.split("…").map((part) => escape(part.trim()).replaceAll(" ", "[\\s\u2068\u2069]+"));
    return new RegExp(`(?:${this.#all(phrase).map((words) => parts(words).join(".*?")).join("|")})`, "su");
  }

  /** A regular expression for `phrase` at the start, where no other word begins. */
  first(phrase) {
    return new RegExp(`^[\\s\u2068\u2069]*${this.anywhere(phrase).source}(?!\\p{L})`, "su");
  }

  /** A regular expression for `phrase` as all there is. */
  alone(phrase) {
    return new RegExp(`^[\\s\u2068\u2069]*${this.anywhere(phrase).source}[\\s\u2068\u2069]*$`, "su");
  }

  /** `phrase` in this language. Where English has one word for two, there may be several. */
  #all(phrase) {
    if (this.language === "en") return [phrase];
    const around = phrase.split("…").map((part) => part.trim());
    const known = this.#translated(phrase);
    if (known.length > 0 || around.length < 2) return known.length > 0 ? known : [phrase];
    return [around.map((part) => this.#translated(part)[0] ?? part).join("…")];
  }

  /** What is found for `phrase`: as one text, or else as two in a row. */
  #translated(phrase) {
    if (MONEY.test(phrase)) return [this.#money(phrase)];
    const whole = ENGLISH.flatMap(({ key, variant, matches }) => {
      const found = matches.exec(phrase);
      return found ? [this.#format(key, variant, found.groups ?? {})] : [];
    });
    if (whole.length > 0) return [...new Set(whole)];
    const words = phrase.split(" ");
    for (let at = words.length - 1; at > 0; at -= 1) {
      const [first] = this.#translated(words.slice(0, at).join(" ")).concat(/^\d+$/.test(words[0]) && at === 1 ? words[0] : []);
      const [rest] = first ? this.#translated(words.slice(at).join(" ")) : [];
      if (rest) return [`${first} ${rest}`];
    }
    return [];
  }

  #format(key, variant, values) {
    const { by, variants } = this.#texts.get(key);
    const counted = by && /^\d+$/.test(values[by] ?? "") ? this.#plural.select(Number(values[by])) : variant;
    const words = variants.get(counted) ?? variants.get("other");
    const own = this.language === PSEUDO ? lengthen : (text) => text;
    // A number that English writes out, such as "one return", is 1.
    const value = (name) => this.#translated(values[name] ?? "")[0] ?? values[name] ?? "1";
    const parts = words.split(/\{ \$(\w+) \}/);
    return plain(parts.map((part, at) => (at % 2 ? value(part) : own(part))).join(""));
  }

  /** An amount that is written in English, such as `$1,054.00`. */
  #money(amount) {
    const [symbol, digits] = [amount[0], this.#decimals.format(Number(amount.slice(1).replaceAll(",", "")))];
    const { variants } = this.#texts.get("money");
    return plain(variants.get("other").replace("{ $symbol }", () => symbol).replace("{ $amount }", () => digits));
  }
}
