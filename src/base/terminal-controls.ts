/** Control characters that let a text change a terminal: escape sequences, control characters, turned text. */

/** OSC, DCS, APC, PM and SOS up to their end; CSI; then any other escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b./gs;
/** Control characters except tab and line feed, and the marks that turn the direction of text. */
const CONTROLS = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** Removes sequences, and puts `inPlace` where a control character was. */
export function withoutControls(text: string, inPlace = ""): string {
  return text.replace(SEQUENCES, "").replace(CONTROLS, inPlace);
}
