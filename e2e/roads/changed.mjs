// Between the choice and the confirmation, the chosen size sells out and a unit goes into another return.

import { order, shoes } from "../orders.mjs";
import { confirms, findsOrder, takes } from "../steps.mjs";

export default async ({ stage, shopper }) => {
  const merchant = await stage.open();
  const sold = order(stage.now(), [shoes("L1", { quantity: 2, exchangeable: true })]);
  const shelf = (left) => [
    ["BLUE-41", "41", null, 9],
    ["BLUE-43", "43", null, left],
    ["BLUE-44", "44", null, 9],
  ];
  await merchant.shelves(shelf(9));
  await merchant.sells(sold);

  await findsOrder(shopper, merchant);
  await shopper.ticks("Running shoe");
  await shopper.selects("How many go back?", "2 of 2");
  await shopper.presses("Continue");
  await takes(shopper, "Too small");
  await takes(shopper, "Another size or colour");
  await takes(shopper, "43");
  await takes(shopper, "Send it with a label");
  await merchant.shelves(shelf(0));
  await shopper.presses("Confirm return");
  await shopper.reads("We did not start the return", "It has just sold out.");
  await shopper.sees("Something has changed", "changed-sold-out");
  await takes(shopper, "Exchange for 44");
  await shopper.reads("Exchange for 44");
  await merchant.startsReturn(sold);
  await shopper.presses("Confirm return");
  await shopper.reads("Only 1 of 2 can still come back. …");
  await shopper.sees("Something has changed", "changed-fewer");
  await shopper.presses("Continue");
  await shopper.sees("Check before you confirm", "check-after-change");
  await confirms(shopper, merchant);
  await shopper.getsTheLabel();
};
