// A merchant whose goods come to a warehouse and leave it.

const ADDRESS = "Dock; 7 Dock Rd; Reno; NV; 89501";
const unit = (number) => ({
  line_identifier: `${number}`,
  program_identifier: "P-1",
  unit_identifier: `LP-${number}`,
  sku: "SHOE-1",
  condition: "N",
});

/** An ASN that is being received, two exceptions, a shipment and a drop-ship order of demo-shoes. */
export async function stockedWarehouse(stage, merchant) {
  for (const warehouse of ["WH-1", "WH-2"]) {
    const names = ["--name", warehouse, "--external-identifier", `EXT-${warehouse}`];
    await stage.command("warehouse", "set", warehouse, "--merchant", "demo-shoes", ...names, "--address", ADDRESS);
  }
  const lines = [1, 2, 3].map((at) => ({ line_identifier: `${at}`, sku: `SHOE-${at}`, quantity: 12 }));
  const asn = {
    asn_number: "ASN-1",
    shipment_identifier: "PO-1",
    from: { identifier: "STORE-7", type: "store" },
    to: { identifier: "MAIN", type: "warehouse" },
    cartons: [{ identifier: "PALLET-1", details: lines }],
  };
  await merchant.calls("POST", "/v1/inbound_asns", { inbound_asns: [asn] });
  const scan = (asn_number, at) => ({ asn_number, unit_identifier: `IN-${at}`, sku: "SHOE-1", warehouse_identifier: "WH-1", condition: "A" });
  const units = [...Array(5).keys()].map((at) => scan("ASN-1", at));
  await merchant.calls("POST", "/v1/receipts", { units: [...units, scan("ASN-9", 8), scan("ASN-9", 9)] });

  const shipment = {
    asn_number: "SHIP-1",
    kind: "freight",
    from_warehouse: "WH-1",
    to_warehouse: "WH-2",
    channel: "RTS",
    shipment_identifier: "PO-2",
    carrier: "Example Freight",
    ship_date: stage.now().toISOString(),
  };
  await merchant.calls("POST", "/v1/outbound_shipments", shipment);
  await merchant.calls("POST", "/v1/outbound_shipments/SHIP-1/units", { cartons: [{ identifier: "BOX-1", details: [unit(1), unit(2)] }] });

  const item = { client_identifier: "L1", sku: "SHOE-42", quantity: 2 };
  const address = { name: "S… O…", street: "9 Example Street", city: "Exampleton", country: "US" };
  await merchant.calls("POST", "/v1/drop_ship_orders", { client_identifier: "DROP-1", shipping_address: address, order_items: [item] });
}
