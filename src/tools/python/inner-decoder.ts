/**
 * A `TextDecoder` for Pyodide's realm, for the encodings that it uses. The text of each function is
 * evaluated there. It is written here because Node's own would be called with objects that Python chooses,
 * and describes what it refuses by calling their functions.
 */

type Units = Uint8Array | Uint16Array;
type Decode = (bytes: Uint8Array, isFatal: boolean) => Units;

export function innerDecoder(fromUtf8: Decode): void {
  /** Joins pieces that fit on the stack. */
  const join = (units: Units): string => {
    let text = "";
    for (let at = 0; at < units.length; at += 8192) {
      text += Reflect.apply(String.fromCharCode, undefined, units.subarray(at, at + 8192));
    }
    return text;
  };

  const fromUtf16 = (bytes: Uint8Array): Units =>
    new Uint16Array(bytes.slice(0, bytes.length & ~1).buffer);

  const decoders = new Map<string, Decode>([
    ["utf8", fromUtf8],
    ["utf16", fromUtf16],
    ["utf16le", fromUtf16],
    ["latin1", (bytes) => bytes],
    ["ascii", (bytes) => bytes],
  ]);

  class Decoder {
    readonly #decode: Decode;
    readonly #options: { readonly fatal?: boolean; readonly ignoreBOM?: boolean };
    constructor(encoding = "utf-8", options = {}) {
      const decode = decoders.get(String(encoding).toLowerCase().replaceAll("-", ""));
      if (!decode) throw new RangeError(`There is no decoder for "${encoding}".`);
      this.#decode = decode;
      this.#options = options;
    }
    decode(given: ArrayBufferView | ArrayBuffer = new ArrayBuffer(0)): string {
      const bytes = ArrayBuffer.isView(given)
        ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
        : new Uint8Array(given);
      const { fatal = false, ignoreBOM = false } = this.#options;
      const text = join(this.#decode(bytes, fatal));
      return ignoreBOM || text[0] !== "\ufeff" ? text : text.slice(1);
    }
  }

  Object.assign(globalThis, { TextDecoder: Decoder });
}

/** Returns the function that decodes UTF-8 to code units. */
export function innerUtf8(): Decode {
  /** Ranges: the first byte, how many bytes there are then, and the second byte. */
  const forms = [
    [0xc2, 0xdf, 2, 0x80, 0xbf],
    [0xe0, 0xe0, 3, 0xa0, 0xbf],
    [0xe1, 0xec, 3, 0x80, 0xbf],
    [0xed, 0xed, 3, 0x80, 0x9f],
    [0xee, 0xef, 3, 0x80, 0xbf],
    [0xf0, 0xf0, 4, 0x90, 0xbf],
    [0xf1, 0xf3, 4, 0x80, 0xbf],
    [0xf4, 0xf4, 4, 0x80, 0x8f],
  ] as const;

  /** The character at a position and its number of bytes, if the bytes are valid. */
  const readPoint = (bytes: Uint8Array, at: number): readonly [number | undefined, number] => {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
    if (first < 0x80) return [first, 1];
    const form = forms.find(([from, to]) => first >= from && first <= to);
    if (!form) return [undefined, 1];
    const [, , size, from, to] = form;
    if (second < from || second > to) return [undefined, 1];
    let point = ((first & (0x7f >> size)) << 6) | (second & 0x3f);
    for (let step = 2; step < size; step++) {
      const byte = bytes[at + step] ?? 0;
      if (byte >> 6 !== 2) return [undefined, step];
      point = (point << 6) | (byte & 0x3f);
    }
    return [point, size];
  };

  return (bytes, isFatal) => {
    const units = new Uint16Array(bytes.length);
    let end = 0;
    for (let at = 0; at < bytes.length; ) {
      const [point, length] = readPoint(bytes, at);
      if (point === undefined && isFatal) throw new TypeError("The bytes are not valid UTF-8.");
      const shown = point ?? 0xfffd;
      if (shown > 0xffff) units[end++] = 0xd7c0 + (shown >> 10);
      units[end++] = shown > 0xffff ? 0xdc00 | (shown & 0x3ff) : shown;
      at += length;
    }
    return units.subarray(0, end);
  };
}
