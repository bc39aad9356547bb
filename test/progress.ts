/**
 * Ends a test process that stands still, and says which tests it was waiting for. A slow machine is not
 * standing still: only a long time in which no test starts or ends counts.
 */
import { afterEach, beforeEach } from "node:test";

/** Far more than any one test takes on a machine that is ten times slower than ours. */
const STALL_MS = 15 * 60_000;
const LOOK_EVERY_MS = 5_000;
/** This long after its last test, only a forgotten connection keeps a process alive. */
const OVER_MS = 2 * 60_000;

export function watchProgress(): void {
  const running = new Set<string>();
  let progressAt = performance.now();
  let hasFailed = false;
  const nameOf = (test: unknown) =>
    (test as { fullName?: string; name: string }).fullName ?? (test as { name: string }).name;
  beforeEach((test) => {
    progressAt = performance.now();
    running.add(nameOf(test));
  });
  afterEach((test) => {
    progressAt = performance.now();
    running.delete(nameOf(test));
    if ((test as { readonly error?: unknown }).error) hasFailed = true;
  });
  setInterval(() => {
    const stillMs = performance.now() - progressAt;
    if (running.size === 0 && stillMs > OVER_MS) endProcess(hasFailed);
    if (stillMs < STALL_MS) return;
    const names = [...running].map((name) => `  ${name}`).join("\n");
    process.stderr.write(
      `No test has started or ended for ${STALL_MS / 60_000} minutes. Still running:\n${names}\n`,
    );
    process.exit(1);
  }, LOOK_EVERY_MS).unref();
}

/** With the code that its tests have left. Some versions of Node.js set it only when a process ends by itself. */
function endProcess(hasFailed: boolean): never {
  const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
  process.stderr.write(`All tests have ended, and something is still open: ${open}.\n`);
  process.exit(hasFailed ? 1 : process.exitCode);
}
