// Support acts for a shopper, under its own name, by a link that the merchant made.

import { order, shoes } from "../orders.mjs";
import { givesReason, sendsBack } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  const { url } = await merchant.calls("POST", "/v1/portal_links", { order_identifier: "DS-10482", support: "Kim Example" });
  const path = new URL(url).pathname.split("/").slice(3).join("/");
  await shopper.opens(merchant, path);
  await shopper.reads("Kim Example is acting for the shopper.");
  await shopper.sees("What would you like to send back?", "items-by-support");
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.opens(merchant, path, 410);
  await shopper.sees("This link no longer works", "shop-link-over");
};
