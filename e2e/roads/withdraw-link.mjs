// The shopper opens the statement of a withdrawal by the link in its acknowledgement, and goes on to the order; so does somebody whose
// order nobody knows, and somebody whose link is too old.

import { EMAIL, order, shoes } from "../orders.mjs";

/** Withdraws from a whole order, and returns the path of the link in the acknowledgement. */
async function withdraws(shopper, merchant, [name, number, email]) {
  await shopper.opens(merchant, "withdraw");
  await shopper.types("Your name", name);
  await shopper.types("Order number", number);
  await shopper.types("E-mail", email);
  await shopper.chooses("The whole order");
  await shopper.presses("Continue");
  await shopper.presses("Confirm withdrawal");
  const link = await merchant.mailedLink(email);
  return link.pathname.split("/").slice(3).join("/");
}

export default async ({ stage, shopper }) => {
  const merchant = await stage.open({ offers: ["mail-back"] });
  const sold = order(stage.now(), [shoes("L1", { quantity: 2 })]);
  sold.shipping_address.country_code = "DE";
  await merchant.sells(sold);

  const unknown = await withdraws(shopper, merchant, ["Sam Example", "Blue shoes, beginning of the month", "sam@example.com"]);
  await shopper.opens(merchant, unknown);
  await shopper.reads("Statement of withdrawal", "Sam Example", "Blue shoes, beginning of the month", "sam@example.com");
  await shopper.sees("Your withdrawal", "unknown");
  await shopper.follows("Go to my order");
  await shopper.sees("Return or exchange something", "find");

  const known = await withdraws(shopper, merchant, ["Pat Example", "ds-10482", EMAIL]);
  await shopper.opens(merchant, known);
  await shopper.reads("Acknowledgement of receipt", "Statement of withdrawal", "Pat Example", "The whole order: Running shoe, blue, 42, 2 pieces", EMAIL);
  await shopper.sees("Your withdrawal", "statement");
  await shopper.reloads();
  await shopper.follows("Go to my order");
  await shopper.sees("We have received your withdrawal", "order");

  await shopper.opens(merchant, "w/never-was", 410);
  await shopper.reads("A link in our e-mails works for 90 days. Your withdrawal counts all the same: the e-mail has its exact content.");
  await shopper.sees("This link no longer works", "over");
};
