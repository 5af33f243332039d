// Walks shoppers' roads through the portal in a real browser, and ends with a JSON line.
//
//   node run.mjs [--full | --pictures] PROGRAMS
//
// PROGRAMS is the directory of the programs `backhaul` and `proof`. Failures are kept in `e2e` beside it, pictures in `pictures`.
// With ROAD=exchange in the environment, only that road is walked; with PORTAL_LANGUAGE=de, every road is walked in that language.

import { mkdir, readdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";

import { chromium } from "playwright-core";

import { ALL, PAIRWISE, PICTURED, describe } from "./dimensions.mjs";
import { Photos } from "./photos.mjs";
import { LANGUAGES } from "./phrases.mjs";
import { findSeeded } from "./seeded.mjs";
import { Shopper } from "./shopper.mjs";
import { Stage } from "./stage.mjs";

const [mode, programs] = process.argv[2]?.startsWith("--") ? [process.argv[2], process.argv[3]] : ["", process.argv[2]];
const output = resolve(programs, "..");
const pictures = `${output}/pictures${process.env.PORTAL_LANGUAGE ? `/${process.env.PORTAL_LANGUAGE}` : ""}`;
/** The longest a road and a whole run may take. */
const ROAD_TAKES = 120_000;
const RUN_TAKES = mode === "--full" ? 7_200_000 : 600_000;

/** The most lines of a failure's message that are printed. */
const MOST_LINES = 20;

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

const results = { passed: 0, failed: 0, states: 0, axe_violations: 0, largest_bytes: {} };

async function walk(browser, stage, { road, dimensions }) {
  const name = `${road.name} ${describe(dimensions)}`;
  const started = Date.now();
  const shopper = await Shopper.enter(browser, road.name, dimensions, mode === "--pictures" && pictures);
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`it took longer than ${ROAD_TAKES / 1000} s`)), ROAD_TAKES);
  });
  try {
    const walked = road.walk({ stage, shopper });
    // After a timeout nobody waits for it.
    walked.catch(() => {});
    await Promise.race([walked, late]);
    shopper.objects();
    results.passed += 1;
    console.log(`ok      ${name}  ${((Date.now() - started) / 1000).toFixed(1)} s`);
  } catch (error) {
    results.failed += 1;
    const why = error.message.replaceAll(/\u001b\[\d+m/g, "").split("\n").slice(0, MOST_LINES).join("\n  ");
    console.log(`FAILED  ${name}\n  at ${shopper.path()}, step: ${shopper.step}\n  ${why}`);
    await mkdir(`${output}/e2e`, { recursive: true });
    await shopper.keep(`${output}/e2e/${road.name}-${describe(dimensions)}`).catch(() => {});
  } finally {
    clearTimeout(timer);
    results.states += shopper.states;
    results.axe_violations += shopper.violations;
    for (const [type, bytes] of Object.entries(shopper.largest)) {
      results.largest_bytes[type] = Math.max(results.largest_bytes[type] ?? 0, bytes);
    }
    await shopper.leave();
  }
}

async function main() {
  const planned = walks(await roads());
  if (!process.env.ROAD) await rm(mode === "--pictures" ? pictures : `${output}/e2e`, { recursive: true, force: true });
  const stage = await Stage.start(programs);
  let browser;
  try {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // As root, the browser does not run in a sandbox of its own; in containers, shared memory is scarce.
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
      env: mode === "--pictures" ? { ...process.env, FONTCONFIG_FILE: new URL("fonts.conf", import.meta.url).pathname } : process.env,
      handleSIGINT: false,
      handleSIGTERM: false,
    });
    stage.photos = await Photos.serve(browser);
    if (mode !== "--pictures") results.seeded_caught = await findSeeded(browser);
    const queue = planned.filter(({ road }) => !road.movesClock);
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await walk(browser, stage, next);
    };
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    // The clock is everybody's: whoever moves it walks alone.
    for (const next of planned.filter(({ road }) => road.movesClock)) await walk(browser, stage, next);
  } finally {
    await browser?.close();
    await stage.stop();
    stage.photos?.close();
  }
}

const watchdog = setTimeout(() => {
  console.error(`the run took longer than ${RUN_TAKES / 60_000} minutes`);
  process.exit(1);
}, RUN_TAKES);
// The browser and the stage end with this process.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
await main();
clearTimeout(watchdog);
results.seconds = Math.round(performance.now() / 1000);
console.log(JSON.stringify(results));
process.exitCode = results.failed > 0 ? 1 : 0;
