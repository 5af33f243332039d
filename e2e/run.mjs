// Walks shoppers' roads through the portal in a real browser, and ends with a JSON line.
//
//   node run.mjs [--full | --pictures] PROGRAMS
//
// PROGRAMS is the directory of the programs `backhaul` and `proof`. Failures are kept in `e2e` beside it, pictures in `pictures`.
// With ROAD=exchange in the environment, only that road is walked; with PORTAL_LANGUAGE=de, every road is walked in that language.

import { readdir, rm } from "node:fs/promises";
import { resolve } from "node:path";

import { ALL, PAIRWISE, PICTURED, describe } from "./dimensions.mjs";
import { Photos } from "./photos.mjs";
import { LANGUAGES } from "./phrases.mjs";
import { Runner, atOnce, launch } from "./runner.mjs";
import { findSeeded } from "./seeded.mjs";
import { Shopper } from "./shopper.mjs";
import { Stage } from "./stage.mjs";

const [mode, programs] = process.argv[2]?.startsWith("--") ? [process.argv[2], process.argv[3]] : ["", process.argv[2]];
const output = resolve(programs, "..");
const pictures = `${output}/pictures${process.env.PORTAL_LANGUAGE ? `/${process.env.PORTAL_LANGUAGE}` : ""}`;
/** The longest that a whole run may take. */
const RUN_TAKES = mode === "--full" ? 7_200_000 : 600_000;

const runner = new Runner(`${output}/e2e`);

/** The roads, each with its place and whether it moves the clock. */
async function roads() {
  const files = (await readdir(new URL("roads", import.meta.url))).filter((file) => file.endsWith(".mjs")).sort();
  const all = await Promise.all(
    files.map(async (file, at) => {
      const { default: walk, movesClock = false } = await import(`./roads/${file}`);
      return { name: file.replace(".mjs", ""), at, walk, movesClock };
    }),
  );
  const wanted = all.filter(({ name }) => !process.env.ROAD || name === process.env.ROAD);
  if (wanted.length === 0) throw new Error(`there is no road ${process.env.ROAD}; there are ${all.map(({ name }) => name).join(", ")}`);
  return wanted;
}

const only = process.env.PORTAL_LANGUAGE;
if (only && !LANGUAGES.includes(only)) throw new Error(`there is no language ${only}; there are ${LANGUAGES.join(", ")}`);

/** Each road with the dimensions in which it is walked. In full, a road is walked in all combinations in English, and once in each other
 * language. */
function walks(roads) {
  const pair = (road, language) => PAIRWISE.filter((combination) => !language || combination.language === language).at(road.at % (language ? 3 : PAIRWISE.length));
  if (mode === "--pictures") return roads.map((road) => ({ road, dimensions: { ...PICTURED, language: only ?? "en" } }));
  if (only || mode === "") return roads.map((road) => ({ road, dimensions: pair(road, only) }));
  const others = LANGUAGES.filter((language) => language !== "en");
  const inOthers = others.flatMap((language) => roads.map((road) => ({ road, dimensions: pair(road, language) })));
  return [...ALL.flatMap((dimensions) => roads.map((road) => ({ road, dimensions }))), ...inOthers];
}

async function walk(browser, stage, { road, dimensions }) {
  const enter = () => Shopper.enter(browser, road.name, dimensions, mode === "--pictures" && pictures);
  await runner.walk(`${road.name} ${describe(dimensions)}`, enter, (shopper) => road.walk({ stage, shopper }));
}

async function main() {
  const planned = walks(await roads());
  if (!process.env.ROAD) await rm(mode === "--pictures" ? pictures : `${output}/e2e`, { recursive: true, force: true });
  const stage = await Stage.start(programs);
  let browser;
  try {
    browser = await launch(mode === "--pictures");
    stage.photos = await Photos.serve(browser);
    if (mode !== "--pictures") runner.results.seeded_caught = await findSeeded(browser);
    const together = planned.filter(({ road }) => !road.movesClock);
    await atOnce(together, (next) => walk(browser, stage, next));
    // The clock is everybody's: whoever moves it walks alone.
    for (const next of planned.filter(({ road }) => road.movesClock)) await walk(browser, stage, next);
  } finally {
    await browser?.close();
    await stage.stop();
    stage.photos?.close();
  }
}

await runner.run(main, RUN_TAKES);
