// “Where is my refund?” From the shopper's e-mail address to the answer in three steps; then what support can do about the return.

import { EMAIL, order, shoes } from "../../orders.mjs";
import { Systems } from "../systems.mjs";

const PORTAL = "https://returns.example.com";

export const settings = async () => ({ environment: { BACKHAUL__PORTAL__URL: PORTAL } });

/** A merchant with a return whose goods are on their way back. */
async function merchantWithReturn(stage) {
  const systems = await Systems.start();
  await stage.command("merchant", "add", "demo-shoes", "--name", "Demo Shoes");
  const { client_id, client_secret } = await stage.command("credential", "issue", "--merchant", "demo-shoes", "--scope", "orders", "--scope", "warehouse", "--scope", "carrier");
  await stage.command("endpoint", "set", "rma", "--merchant", "demo-shoes", "--url", systems.url("/rmas"));
  const merchant = stage.merchant({ merchant: "demo-shoes", client_id, client_secret });
  const sold = order(stage.now(), [shoes("L1", { quantity: 3 })], { identifier: "DS-1" });
  await merchant.calls("POST", "/returns_portal_orders", { returns_portal_order: { orders: [sold] } });
  const waiting = await merchant.startsReturn(sold);
  const { rma_identifier: rma } = await merchant.startsReturn(sold);
  for (const event of ["label_issued", "in_transit"]) {
    const occurred_at = stage.now().toISOString().replace(/\.\d+Z/, "Z");
    await merchant.calls("POST", "/v1/carrier_events", { event, rma_identifier: rma, tracking_number: "1Z999AA10123456784", occurred_at });
  }
  return { systems, rma, waiting: waiting.rma_identifier };
}

export default async ({ stage, operator }) => {
  const { systems, rma, waiting } = await merchantWithReturn(stage);
  try {
    await operator.begins("support");
    await operator.searches(EMAIL);
    await operator.sees("Returns and orders of this shopper", "search-email");
    await operator.follows(rma);
    await operator.reads("Refund due by", "the goods have come back, and the merchant owes $54.00.", "1Z999AA10123456784");
    await operator.sees(rma, "return");

    await operator.presses("Show address");
    await operator.reads("Pat Example", "1 Example Street");
    await operator.sees(rma, "return-address");
    await operator.follows("Send the state again…");
    await operator.sees(`Send the state of ${rma} again?`, "return-resend");
    await operator.presses("Send the state again");
    await operator.reads("rma.resent");
    await operator.follows("Act for the shopper…");
    await operator.sees("Act for the shopper", "return-act");
    await operator.presses("Make the link");
    await operator.reads(`${PORTAL}/r/demo-shoes/m/`);
    await operator.sees("Act for the shopper", "return-act-made");

    await operator.opens("/returns");
    await operator.reads("2 shown", "due by");
    await operator.sees("Returns", "returns");
    await operator.follows(waiting);
    await operator.reads("No refund is due yet");
    await operator.follows("Cancel…");
    await operator.sees(`Cancel the return ${waiting}?`, "return-cancel");
    await operator.presses("Cancel the return");
    await operator.reads("No refund; the return was cancelled: an operator cancelled it.");
    await operator.sees(waiting, "return-cancelled");
    await operator.follows("Order DS-1");
    await operator.reads("Running shoe, blue, 42");
    await operator.sees("Order DS-1", "order");
    await operator.follows("Orders");
    await operator.sees("Orders", "orders");
    await operator.opens("/orders");
    await operator.reads("Name a merchant");
    await operator.sees("Orders", "orders-of-nobody");
    await operator.opens("/returns?status=REFUNDED");
    await operator.reads("No return fits these filters");
    await operator.sees("Returns", "returns-none");
  } finally {
    systems.stop();
  }
};
