// The stage: the real service on a real PostgreSQL, with simulated merchants and carriers. It is a command of the proof program,
// which takes commands on its standard input and answers each with a line.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { Merchant } from "./merchant.mjs";

const STARTED_WITHIN = 60_000;
const ANSWERED_WITHIN = 20_000;

const within = (milliseconds, what, promise) => {
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`${what} took longer than ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

export class Stage {
  #child;
  #waiting = [];
  /** By how much the sandbox's clock is ahead, in milliseconds. */
  #ahead = 0;
  /** The photos of the merchants' goods. */
  photos;

  /** Starts the stage with the programs in `programs`. */
  static async start(programs) {
    const stage = new Stage();
    const child = spawn(`${programs}/proof`, ["--program", `${programs}/backhaul`, "portal-stage"], {
      stdio: ["pipe", "pipe", "inherit"],
      // Whatever ends the runner leaves the stage to clean up when its input ends.
      detached: true,
    });
    stage.#child = child;
    const ready = stage.#next();
    createInterface({ input: child.stdout }).on("line", (line) => stage.#waiting.shift()?.take(JSON.parse(line)));
    child.on("error", (error) => stage.#refuseAll(new Error(`the stage cannot be started: ${error.message}`)));
    child.on("exit", (code) => stage.#refuseAll(new Error(`the stage ended with code ${code}`)));
    child.stdin.on("error", () => {});
    Object.assign(stage, await within(STARTED_WITHIN, "starting the stage", ready));
    return stage;
  }

  #next() {
    return new Promise((take, refuse) => this.#waiting.push({ take, refuse }));
  }

  #refuseAll(error) {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  /** Sends a command and returns its result. */
  async send(command) {
    const answer = this.#next();
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    const result = await within(ANSWERED_WITHIN, `the command ${command.do}`, answer);
    if (result.error) throw new Error(`${command.do}: ${result.error}`);
    return result;
  }

  /** The time in the sandbox. */
  now() {
    return new Date(Date.now() + this.#ahead);
  }

  /** Moves the sandbox's clock ahead, such as by `31m`. */
  async advance(by) {
    const { now } = await this.send({ do: "advance", by });
    this.#ahead = Date.parse(now) - Date.now();
  }

  /** Opens a merchant. With `bonus_cents` it has gift cards, with `managed_receiving` a warehouse receives for it. */
  async open({ name = "Demo Shoes", offers = ["mail-back", "express-returns"], help_email = "help@example.com", ...policy } = {}) {
    const opening = { name, offers, help_email, ...policy };
    return new Merchant(this, opening, await this.send({ do: "open", ...opening }));
  }

  /** Ends the stage and waits until it has cleaned up. */
  async stop() {
    const ended = new Promise((done) => (this.#child.exitCode === null ? this.#child.once("exit", done) : done()));
    this.#child.stdin.end();
    await within(STARTED_WITHIN, "stopping the stage", ended).catch(() => this.#child.kill("SIGKILL"));
  }
}
