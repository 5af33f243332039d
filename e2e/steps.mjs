// Steps that several roads share.

import { EMAIL } from "./orders.mjs";

/** Finds the order and comes to what can go back. */
export async function findsOrder(shopper, merchant, key = EMAIL) {
  await shopper.opens(merchant);
  await shopper.types("Order number", "ds-10482");
  await shopper.types("E-mail or postcode", key);
  await shopper.presses("Find my order");
}

/** Ticks one item and says why it goes back. */
export async function givesReason(shopper, item, reason = "Too small") {
  await shopper.ticks(item);
  await shopper.presses("Continue");
  await answersReason(shopper, reason);
}

export async function answersReason(shopper, reason = "Too small") {
  await shopper.chooses(reason);
  await shopper.presses("Continue");
}

export async function takes(shopper, instead) {
  await shopper.chooses(instead);
  await shopper.presses("Continue");
}

/** Chooses the way back and confirms. Returns the number of the return. */
export async function sendsBack(shopper, merchant, way = "Send it with a label") {
  await takes(shopper, way);
  return confirms(shopper, merchant);
}

/** Confirms, and compares the message with that of the same return through the API. Returns the number of the return. */
export async function confirms(shopper, merchant, exchange_sku) {
  await shopper.presses("Confirm return");
  const rma = shopper.rma();
  await merchant.comparesWithApi(rma, exchange_sku);
  return rma;
}
