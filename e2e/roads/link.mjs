// The shopper does not have the order's number, and opens the order by a link in a mail.

import { EMAIL, order, shoes } from "../orders.mjs";
import { givesReason, sendsBack } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));
  await merchant.sells(order(stage.now(), [shoes("L1", { title: "Trail boot, brown, 41" })], { identifier: "DS-10483" }));

  await shopper.opens(merchant);
  await shopper.follows("Don’t have the number? Get a link by e-mail");
  await shopper.sees("Get a link by e-mail", "lost");
  await shopper.types("E-mail of the order", "pat");
  await shopper.presses("Send me a link");
  await shopper.reads("Enter an e-mail address, like name@example.com");
  await shopper.sees("Get a link by e-mail", "lost-error");
  await shopper.types("E-mail of the order", EMAIL);
  await shopper.presses("Send me a link");
  await shopper.reads(`If we have orders for ${EMAIL}, a link is on its way. It works once, for one hour.`);
  await shopper.sees("Check your e-mail", "sent");
  const link = await merchant.mailedLink();
  const path = link.pathname.split("/").slice(3).join("/");
  await shopper.opens(merchant, path);
  await shopper.unfolds("Why one more step?");
  await shopper.sees("Open your orders and returns", "link");
  await shopper.presses("Continue");
  await shopper.sees("Which order is it about?", "orders");
  await shopper.presses("Go on with this order…DS-10482");
  await shopper.sees("What would you like to send back?", "items-by-link");
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.opens(merchant, path, 410);
  await shopper.sees("This link no longer works", "link-used");
};
