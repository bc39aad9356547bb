/** Writes the generated pages of `docs/`: `npm run docs`. */

import { mkdirSync, writeFileSync } from "node:fs";
import { PAGES } from "./docs/pages.ts";

// From build/scripts/ up to the checkout.
const docs = new URL("../../docs/", import.meta.url);
mkdirSync(docs, { recursive: true });
for (const [name, render] of Object.entries(PAGES)) {
  writeFileSync(new URL(name, docs), await render());
  console.log(`docs/${name}`);
}
