// A merchant whose systems do not take messages.

import { order, shoes } from "../orders.mjs";
import { Systems } from "./systems.mjs";

/** A merchant with this many returns, whose systems answer every message with 503. Messages are given up after a few seconds. */
export async function failingMerchant(stage, returns = 3) {
  const systems = await Systems.start();
  systems.answers(503);
  await stage.command("merchant", "add", "demo-shoes", "--name", "Demo Shoes", "--technical-contact", "tech@demo-shoes.example.com");
  const credential = await stage.command("credential", "issue", "--merchant", "demo-shoes", "--scope", "orders", "--scope", "warehouse", "--scope", "carrier");
  const address = systems.url("/rmas");
  await stage.command("endpoint", "set", "rma", "--merchant", "demo-shoes", "--url", address, "--waits", "1,1,1,1,1");
  const { client_id, client_secret } = credential;
  const merchant = stage.merchant({ merchant: "demo-shoes", client_id, client_secret });
  for (let at = 1; at <= returns; at += 1) {
    const sold = order(stage.now(), [shoes(`L${at}`)], { identifier: `DS-${at}` });
    await merchant.calls("POST", "/returns_portal_orders", { returns_portal_order: { orders: [sold] } });
    await merchant.startsReturn(sold);
  }
  return { systems, merchant };
}
