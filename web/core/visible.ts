/**
 * Shows invisible characters, and those that turn the direction of text, by their names. A path with one of them can
 * look like another path in a question. Only the shown text is changed; copying gives the original text.
 */

const HIDING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be named
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

export function visible(text: string): string {
  return text.replace(HIDING, (found) => {
    const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });
}
