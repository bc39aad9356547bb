/** How often tests kill processes: `OFFSHOOT_TEST_KILLS=500` for a long test, `usual` by default. */
export function countKills(usual: number): number {
  return Number(process.env["OFFSHOOT_TEST_KILLS"] ?? usual);
}
