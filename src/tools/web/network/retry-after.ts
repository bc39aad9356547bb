/** How long a server asks to wait, if it says so in seconds. */
export function toRetryAfterMs(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1000 : undefined;
}
