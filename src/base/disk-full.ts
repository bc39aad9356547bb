/** The system's errors for a write that found no room: a full disk, a quota, a limit on file sizes. */

const CODES: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

export function isNoRoom(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && CODES.includes(thrown.code);
}
