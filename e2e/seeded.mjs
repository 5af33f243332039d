// Pages with a fault each, to see that the checks find it.

import { createServer } from "node:http";

import { EMAIL } from "./orders.mjs";
import { PSEUDO } from "./phrases.mjs";
import { Shopper } from "./shopper.mjs";

const STYLE = `
  body { color: #000; background: #fff }
  a { display: inline-block; padding: 1rem }
  button { padding: 0; border: 0; font: 1rem sans-serif }
  :focus-visible { outline: 3px solid }
  .pale { color: #ccc }
  .wide { width: 60rem }
  .moving { animation: fade 1s infinite }
  .ringless:focus { outline: 0 }
  @keyframes fade { to { opacity: .5 } }`;

/** What is wrong with each page, what the checks say about it, and the language in which they expect it. The pages are in English. */
const SEEDED = [
  [`<p class="pale">Pale</p>`, "color-contrast"],
  [`<button>Small</button>`, "not 44"],
  [`<a class="ringless" href="/">Ringless</a>`, "does not show that it has the focus"],
  [`<a tabindex="-1" href="/">Skipped</a>`, "never gets the focus"],
  [`<p class="wide">Wide</p>`, "px wide at 320 px"],
  [`<p class="moving">Moving</p>`, "in spite of reduced motion"],
  [`<p style="color: navy">Inline</p>`, "style-src"],
  [`<h1>Again</h1>`, "2 headings"],
  [`<p hidden>${Array.from({ length: 6_000 }, (_, at) => Math.sin(at)).join()}</p>`, "bytes compressed"],
  [`<img src="/none.png" alt="">`, "1 pictures are missing"],
  [`<title>${EMAIL}</title>`, "the address or the title"],
  ["", "the page is in en, not in fr", "fr"],
  ["", `"Seeded" is not translated`, PSEUDO],
];

/** Returns how many of the seeded faults were found, with and without scripts. Throws if one was not. */
export async function findSeeded(browser) {
  const server = createServer((request, response) => {
    const [, at] = request.url.split("/");
    const [type, body] = at === "style.css" ? ["text/css", STYLE] : ["text/html", page(SEEDED[at]?.[0] ?? "")];
    response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": "default-src 'self'" }).end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const merchant = { portal: `http://127.0.0.1:${server.address().port}` };
  let found = 0;
  try {
    for (const scripts of [true, false]) {
      for (const [at, [, wanted, language = "en"]] of SEEDED.entries()) {
        const shopper = await Shopper.enter(browser, "seeded", { scripts, keyboard: false, width: 390, scheme: "light", language });
        await shopper.opens(merchant, String(at));
        const said = await shopper.sees("Seeded", "seeded").then(() => "nothing", (error) => error.message);
        if (!said.includes(wanted)) throw new Error(`the checks do not find ${JSON.stringify(wanted)}: ${said}`);
        found += 1;
        await shopper.leave();
      }
    }
  } finally {
    server.close();
  }
  return found;
}

const page = (fault) =>
  `<!doctype html><html lang="en"><head>${fault.startsWith("<title>") ? fault : "<title>Seeded</title>"}<link rel="icon" href="data:,">` +
  `<link rel="stylesheet" href="/style.css"></head><body><main><h1>Seeded</h1>${fault.startsWith("<title>") ? "" : fault}</main></body></html>`;
