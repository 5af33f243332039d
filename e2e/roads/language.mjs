// The shopper chooses another language, which stays until the next choice.

import { EMAIL, order, shoes } from "../orders.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  await merchant.sells(order(stage.now(), [shoes("L1")]));

  await shopper.opens(merchant);
  await shopper.opensLanguages();
  await shopper.sees("Return or exchange something", "languages");
  if ((await shopper.escapes()) !== shopper.scripted) throw new Error("Escape closes the menu exactly if there are scripts");
  if (shopper.scripted) await shopper.opensLanguages();
  await shopper.switchesTo("de");
  await shopper.sees("Return or exchange something", "find-in-german");
  await shopper.types("Order number", "DS-10482");
  await shopper.types("E-mail or postcode", EMAIL);
  await shopper.presses("Find my order");
  await shopper.sees("What would you like to send back?", "items-in-german");
  await shopper.opensLanguages();
  await shopper.switchesTo("fr");
  await shopper.reads("$54.00", "Return by …");
  await shopper.sees("What would you like to send back?", "items-in-french");
};
