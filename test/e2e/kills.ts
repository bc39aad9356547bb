/** How often tests kill what they watch: `OFFSHOOT_TEST_KILLS=500` for a long look, `usual` for every day. */
export function countKills(usual: number): number {
  return Number(process.env["OFFSHOOT_TEST_KILLS"] ?? usual);
}
