// Walks operators' roads through the console in a real browser, by keyboard alone, and ends with a JSON line.
//
//   DATABASE_URL=… node console.mjs [--full | --pictures] PROGRAMS
//
// PROGRAMS is the directory of the program `backhaul`. Every walk has a database and a service of its own, on the PostgreSQL that
// DATABASE_URL names. Failures are kept in `e2e-console` beside PROGRAMS, pictures in `pictures/console`. With ROAD=failing in the
// environment, only that road is walked.

import { readdir, rm } from "node:fs/promises";
import { resolve } from "node:path";

import { Operator } from "./console/operator.mjs";
import { Stage } from "./console/stage.mjs";
import { COMBINATIONS, PAIRS, PICTURED, describe } from "./console/dimensions.mjs";
import { Runner, atOnce, launch } from "./runner.mjs";

const [mode, programs] = process.argv[2]?.startsWith("--") ? [process.argv[2], process.argv[3]] : ["", process.argv[2]];
const output = resolve(programs, "..");
const pictures = `${output}/pictures/console`;
/** The longest that a whole run may take. */
const RUN_TAKES = mode === "--full" ? 3_600_000 : 600_000;

const runner = new Runner(`${output}/e2e-console`);

/** The roads, each with its place, its settings, and whether it takes longer than others. */
async function roads() {
  const files = (await readdir(new URL("console/roads", import.meta.url))).filter((file) => file.endsWith(".mjs")).sort();
  const all = await Promise.all(
    files.map(async (file, at) => {
      const { default: walk, isLong = false, settings = async () => ({}) } = await import(`./console/roads/${file}`);
      return { name: file.replace(".mjs", ""), at, walk, isLong, settings };
    }),
  );
  const wanted = all.filter(({ name }) => !process.env.ROAD || name === process.env.ROAD);
  if (wanted.length === 0) throw new Error(`there is no road ${process.env.ROAD}; there are ${all.map(({ name }) => name).join(", ")}`);
  return wanted;
}

/** Each road with the dimensions in which it is walked: once, with every pair of values on some road, or in all combinations. */
function walks(roads) {
  if (mode === "--pictures") return roads.map((road) => ({ road, dimensions: PICTURED }));
  if (mode === "--full") return COMBINATIONS.flatMap((dimensions) => roads.map((road) => ({ road, dimensions })));
  return roads.map((road) => ({ road, dimensions: PAIRS[road.at % PAIRS.length] }));
}

async function walk(browser, { road, dimensions }) {
  const settings = await road.settings();
  const stage = await Stage.start(programs, settings);
  try {
    const enter = () => Operator.enter(browser, road.name, dimensions, mode === "--pictures" && pictures);
    await runner.walk(`${road.name} ${describe(dimensions)}`, enter, (operator) => road.walk({ stage, operator: operator.at(stage) }));
  } finally {
    await stage.stop();
  }
}

async function main() {
  const planned = walks(await roads());
  if (!process.env.ROAD) await rm(mode === "--pictures" ? pictures : `${output}/e2e-console`, { recursive: true, force: true });
  await Stage.prepare(programs);
  const browser = await launch(mode === "--pictures");
  try {
    // Long walks begin first, so that nobody waits for one at the end.
    planned.sort((one, other) => Number(other.road.isLong) - Number(one.road.isLong));
    await atOnce(planned, (next) => walk(browser, next));
  } finally {
    await browser.close();
  }
}

await runner.run(main, RUN_TAKES);
