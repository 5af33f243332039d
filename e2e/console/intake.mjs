// A merchant whose orders do not all arrive as they should.

import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { order, shoes } from "../orders.mjs";

/** A refused message, an order that does not add up, and an import with a refused line, all of demo-shoes. Returns the import's id. */
export async function faultyIntake(stage, merchant) {
  const sold = (identifier, more) => ({ ...order(stage.now(), [shoes("L1")], { identifier }), ...more });
  const wrong = sold("BAD-1", { currency: "dollars" });
  const publish = (orders) => merchant.calls("POST", "/returns_portal_orders", { returns_portal_order: { orders } });
  await publish([wrong]).then(
    () => Promise.reject(new Error("the message was taken")),
    (error) => error.message.includes("422") || Promise.reject(error),
  );
  await publish([sold("WARN-1", { total_amount_cents: 1 })]);
  const file = join(tmpdir(), `console-import-${process.pid}-${Date.now()}.ndjson`);
  await writeFile(file, [sold("IMP-1"), { ...wrong, identifier: "IMP-2" }].map((line) => JSON.stringify(line)).join("\n"));
  const { import_id } = await stage.command("orders", "import", "--merchant", "demo-shoes", file);
  return import_id;
}
