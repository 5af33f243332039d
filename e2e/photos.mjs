// The photos of the merchants' goods: drawings, on a server such as a shop has.

import { createServer } from "node:http";

/** The colours and outlines of goods, by the start of their titles. The shop's server does not have the last one. */
const GOODS = {
  "Running shoe": ["#2f55d4", "M14 74c0-10 2-22 6-30l10 6c6 0 10-4 12-10l10 2c6 14 18 22 34 26 8 2 12 6 12 12v4H14z"],
  "Trail boot": ["#8a5a34", "M22 84V22h28v26c8 8 18 12 30 14 10 2 14 8 14 16v6z"],
  "Canvas cap": undefined,
};

const drawing = ([colour, path]) =>
  `<body style="margin:0"><svg width="400" height="400" viewBox="0 0 108 108"><rect width="108" height="108" fill="#eceae4"/>` +
  `<path d="${path}" fill="${colour}"/><path d="M12 82h86v8H12z" fill="#fff"/></svg></body>`;

export class Photos {
  #server;
  #pictures = new Map();

  /** Draws the goods with the browser and serves them. */
  static async serve(browser) {
    const photos = new Photos();
    const page = await browser.newPage({ viewport: { width: 400, height: 400 } });
    for (const [title, goods] of Object.entries(GOODS).filter(([, goods]) => goods)) {
      await page.setContent(drawing(goods));
      photos.#pictures.set(`/${title.replace(" ", "-")}.png`, await page.screenshot());
    }
    await page.close();
    photos.#server = createServer((request, response) => {
      const picture = photos.#pictures.get(request.url);
      response.writeHead(picture ? 200 : 404, { "Content-Type": "image/png" }).end(picture);
    });
    await new Promise((listening) => photos.#server.listen(0, "127.0.0.1", listening));
    return photos;
  }

  /** The address of the photo of goods with this title, if they have one. */
  of(title) {
    const goods = Object.keys(GOODS).find((start) => title.startsWith(start));
    return goods && `http://127.0.0.1:${this.#server.address().port}/${goods.replace(" ", "-")}.png`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
