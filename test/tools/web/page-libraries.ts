/**
 * Tests that read pages with the installed libraries. The product has them bundled; unbundled, Node.js
 * 20.19 cannot load one of them in a process that may not make code from strings (20.20 and later can).
 */
import { it, type TestContext } from "node:test";

const isTooOld = /^v20\.19\./.test(process.version);

export function itReadsPages(name: string, test: (t: TestContext) => Promise<void>): void {
  const reason = " (skipped: Node.js 20.19 reads pages only in the bundled product)";
  it(isTooOld ? name + reason : name, { skip: isTooOld }, test);
}
