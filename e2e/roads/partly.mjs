// An order of which only a part can come back, and in the end nothing.

import { order, POSTCODE, shoes } from "../orders.mjs";
import { findsOrder, givesReason, sendsBack } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  const lines = [shoes("L1", { quantity: 2 }), shoes("L2", { title: "Canvas cap, red", tags: ["final-sale"] })];
  const sold = order(stage.now(), lines);
  await merchant.sells(sold);
  await merchant.startsReturn(sold);

  await findsOrder(shopper, merchant, POSTCODE);
  await shopper.opens(merchant, "items");
  // The shop does not have the photo of the cap. Once that is known, the page shows an icon.
  await shopper.looksAtPictures();
  await shopper.reloads();
  await shopper.reads("1 of 2 can come back. Already in another return.", "These can’t come back", "Final sale. This was marked when you bought it.");
  await shopper.sees("What would you like to send back?", "items-partly");
  await givesReason(shopper, "Running shoe");
  await sendsBack(shopper, merchant);
  await shopper.opens(merchant, "items");
  await shopper.sees("Nothing in this order can come back", "items-nothing");
};
