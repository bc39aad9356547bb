/** A module that a process loads first, after which its wall clock is wrong. */
export function toShift(hours: number): string {
  const code = `const off = ${hours} * 3600000; const now = Date.now; const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { if (given.length === 0) super(now() + off); else super(...given); }
      static now() { return now() + off; }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** Text that cannot be compressed. */
export function toNoise(length: number): string {
  let text = "";
  for (let state = 1; text.length < length; ) {
    state = Math.imul(state, 48_271) % 2_147_483_647;
    text += Math.abs(state).toString(36);
  }
  return text;
}
