// Runs walks, counts what became of them, and ends with a JSON line.

import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";

import { chromium } from "playwright-core";

/** The longest that a walk may take. */
const WALK_TAKES = 400_000;

/** The most lines of a failure's message that are printed. */
const MOST_LINES = 20;

/** Starts the browser. For pictures, it has the fonts that everybody has. */
export const launch = (pictured) =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // As root, the browser does not run in a sandbox of its own; in containers, shared memory is scarce.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    env: pictured ? { ...process.env, FONTCONFIG_FILE: new URL("fonts.conf", import.meta.url).pathname } : process.env,
    handleSIGINT: false,
    handleSIGTERM: false,
  });

/** Does all of it, as many at once as there are processors. */
export async function atOnce(all, act) {
  const queue = [...all];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

export class Runner {
  #failures;
  results = { passed: 0, failed: 0, states: 0, axe_violations: 0, largest_bytes: {} };

  /** A runner that keeps the pages of failures in this directory. */
  constructor(failures) {
    this.#failures = failures;
  }

  /** Lets whoever `enter` brings walk a road. */
  async walk(name, enter, road) {
    const started = Date.now();
    const visitor = await enter();
    let timer;
    const late = new Promise((_, refuse) => {
      timer = setTimeout(() => refuse(new Error(`it took longer than ${WALK_TAKES / 1000} s`)), WALK_TAKES);
    });
    try {
      const walked = road(visitor);
      // After a timeout nobody waits for it.
      walked.catch(() => {});
      await Promise.race([walked, late]);
      visitor.objects();
      this.results.passed += 1;
      console.log(`ok      ${name}  ${((Date.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      this.results.failed += 1;
      const why = error.message.replaceAll(/\u001b\[\d+m/g, "").split("\n").slice(0, MOST_LINES).join("\n  ");
      console.log(`FAILED  ${name}\n  at ${visitor.path()}, step: ${visitor.step}\n  ${why}`);
      await mkdir(this.#failures, { recursive: true });
      await visitor.keep(`${this.#failures}/${name.replaceAll(" ", "-")}`).catch(() => {});
    } finally {
      clearTimeout(timer);
      this.results.states += visitor.states;
      this.results.axe_violations += visitor.violations;
      for (const [type, bytes] of Object.entries(visitor.largest)) {
        this.results.largest_bytes[type] = Math.max(this.results.largest_bytes[type] ?? 0, bytes);
      }
      await visitor.leave();
    }
  }

  /** Runs `main` for at most `takes` milliseconds, prints the results, and sets the exit code. */
  async run(main, takes) {
    const watchdog = setTimeout(() => {
      console.error(`the run took longer than ${takes / 60_000} minutes`);
      process.exit(1);
    }, takes);
    // The browser and the services end with this process.
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
    await main();
    clearTimeout(watchdog);
    this.results.seconds = Math.round(performance.now() / 1000);
    console.log(JSON.stringify(this.results));
    process.exitCode = this.results.failed > 0 ? 1 : 0;
  }
}
