/** Removes a folder of compiled files, so that nothing is run or published whose source is gone. */

import { rmSync } from "node:fs";

for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true });
