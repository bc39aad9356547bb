/** The part that Node.js itself uses of a limit on a process's data (`ulimit -d`). */

const SINCE_24_KIB = 512 * 1024;

/**
 * The memory that Node.js reserves. From version 24 on the engine maps half a gibibyte at its start that
 * counts although it is empty: 561 MB in version 24 and 26, 47 MB in 20 and 22 (`VmData` of an empty
 * program).
 */
export function nodeReservedKib(version = process.versions.node): number {
  return Number.parseInt(version, 10) >= 24 ? SINCE_24_KIB : 0;
}
