/** `node scripts/install.js PACKAGE…`: installs packages of this repository if they are missing. */

import { ensureInstalled } from "./packages.js";

for (const folder of process.argv.slice(2)) ensureInstalled(folder);
