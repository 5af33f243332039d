// The service with an empty database of its own, and its command line.

import { execFile, spawn } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";

import { Merchant } from "../merchant.mjs";

const run = promisify(execFile);

const STARTED_WITHIN = 30_000;
/** The database with the schema, of which each stage gets a copy. */
const TEMPLATE = `console_template_${process.pid}`;

let stages = 0;
const children = new Set();
process.once("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** Starts a process that ends with this one at the latest. */
export function start(program, words, environment) {
  const child = spawn(program, words, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** A port on which nobody listens. */
export async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/** The URL of another database on the same PostgreSQL. */
const database = (name) => process.env.DATABASE_URL.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${name}`);

const sql = (statement) => run("psql", ["-qXc", statement, process.env.DATABASE_URL]);

export class Stage {
  #program;
  #environment;
  #child;
  #log = "";
  #database;
  /** The settings that a road asked for. */
  settings;
  /** The addresses of the API and of the console. */
  api;
  console;

  /** Creates the schema, once for all stages. */
  static async prepare(programs) {
    if (!process.env.DATABASE_URL) throw new Error("DATABASE_URL is not set: run this with the program with-postgres, as `make e2e` does");
    await sql(`create database ${TEMPLATE}`);
    await run(`${programs}/backhaul`, ["migrate"], { env: { ...process.env, DATABASE_URL: database(TEMPLATE), BACKHAUL__MODE: "sandbox" } });
  }

  /** Starts the service with these settings besides the usual ones. */
  static async start(programs, settings = {}) {
    const stage = new Stage();
    stage.settings = settings;
    stage.#program = `${programs}/backhaul`;
    stage.#database = `console_${process.pid}_${(stages += 1)}`;
    await sql(`create database ${stage.#database} template ${TEMPLATE}`);
    const [api, admin, console] = [await freePort(), await freePort(), settings.port ?? (await freePort())];
    stage.api = `http://127.0.0.1:${api}`;
    stage.console = `http://127.0.0.1:${console}`;
    stage.#environment = {
      ...process.env,
      DATABASE_URL: database(stage.#database),
      BACKHAUL__MODE: "sandbox",
      BACKHAUL__DATABASE__CONNECTIONS: "12",
      BACKHAUL__HTTP__LISTEN: `127.0.0.1:${api}`,
      BACKHAUL__HTTP__ADMIN_LISTEN: `127.0.0.1:${admin}`,
      BACKHAUL__HTTP__LEAVE_NOTICE_MS: "0",
      BACKHAUL__CONSOLE__LISTEN: `127.0.0.1:${console}`,
      BACKHAUL__CONSOLE__URL: stage.console,
      // The merchants' systems and the identity provider are on this machine.
      BACKHAUL__OUTBOUND__ALLOWED: '["127.0.0.0/8"]',
      BACKHAUL__LIMITS__REQUESTS_PER_MINUTE: "1000000",
      ...settings.environment,
    };
    await stage.#serve();
    return stage;
  }

  async #serve() {
    const child = start(this.#program, ["serve"], this.#environment);
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (this.#log += data));
    const end = Date.now() + STARTED_WITHIN;
    while (!(await fetch(`${this.console}/sign-in`).then((answer) => answer.ok, () => false))) {
      if (child.exitCode !== null || Date.now() > end) throw new Error(`the service did not start:\n${this.#log}`);
      await new Promise((passed) => setTimeout(passed, 50));
    }
  }

  /** The link with which the first administrator begins, as the service prints it when it starts. */
  firstLink() {
    const [link] = /http:\S+\/invitation\/\S+/.exec(this.#log) ?? [];
    if (!link) throw new Error(`the service printed no link:\n${this.#log}`);
    return link;
  }

  /** Runs a command, and returns what it prints as JSON. */
  async command(...words) {
    const { stdout } = await run(this.#program, [...words, "-o", "json"], { env: this.#environment });
    return stdout.trim() ? JSON.parse(stdout) : undefined;
  }

  /** Invites an operator, and returns the link in the invitation. */
  async invites({ email, name, role }) {
    return (await this.command("operator", "add", email, "--name", name, "--role", role)).link;
  }

  /** A merchant's systems, which know this credential. */
  merchant(credential) {
    return new Merchant(this, {}, credential);
  }

  now() {
    return new Date();
  }

  async stop() {
    const ended = new Promise((done) => (this.#child.exitCode === null ? this.#child.once("exit", done) : done()));
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STARTED_WITHIN);
    await ended;
    clearTimeout(timer);
    await sql(`drop database if exists ${this.#database} with (force)`);
  }
}
