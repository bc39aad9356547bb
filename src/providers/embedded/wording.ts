/** A request in its original words, without courtesies and punctuation, divided into sentences. */

/** Building blocks of templates. */
export const LIST = "(list|show|display|print|name|enumerate|give me|show me|tell me|list out)";
export const MAYBE_IN_DIR = "[(here|(in|under|inside|within|from|below) {dir})]";

/** One request in three forms. Each intent says which of them its templates see. */
export interface Wording {
  /** Only without the closing punctuation: courtesies may be the whole request. */
  readonly typed: string;
  /** Without the courtesies in front; the end is unchanged, for words to be repeated exactly. */
  readonly kept: string;
  /** Without courtesies at both ends and without the closing punctuation. */
  readonly plain: string;
}

const COURTESIES =
  /^(?:please|kindly|hey|hi|hello|ok|okay|so|now|then|just|also|and|(?:first|next|finally)(?=,)|(?:can|could|would|will) you|i(?: wan|'d like| would like| need) (?:you )?to|i want (?:you )?to|let's|go ahead and|i want to know|i wonder|do you know)(?!\w)[,:]?\s+/i;
const THANKS = /[\s,]+(?:please|thanks|thank you|for me|right now|now)$/i;

export function toWording(text: string): Wording {
  const kept = stripAll(text.trim(), COURTESIES);
  return {
    typed: stripEnd(text.trim()),
    kept,
    plain: stripAll(stripAll(stripEnd(kept), THANKS), COURTESIES),
  };
}

/** Cuts a text into sentences and steps: "read a.md. Then count the files in src". */
export function splitSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\s*[;\n]\s*|,?\s+(?:and\s+)?then\s+/i)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** Words for something new, which this model cannot write: "a poem", "tests". */
const TO_BE_MADE =
  /^(something|anything|what|why|how|who|when|where|which|whether|if|a|an|the|more|your|my|our|some|all|it|that|this|them|these|those|to|down|out|up)\b|\b(tests?|docs?|documentation|code|comments?|summary|summaries|report|function|class|script|program|essay|article|story|poem|letter|e?mail|list|table|results?|output|answer|findings|notes)$/i;

/** True if words without quotes are meant literally, and belong to one request. */
export function isVerbatim(words: string): boolean {
  return !TO_BE_MADE.test(words) && isOneStep(words);
}

/** True if no second request follows the first, as in "git status. Then read a.md". */
export function isOneStep(words: string): boolean {
  return splitSentences(words).length === 1;
}

function stripAll(text: string, part: RegExp): string {
  const rest = text.replace(part, "").trim();
  return rest === "" || rest === text ? text : stripAll(rest, part);
}

/** `read a.md.` loses its full stop; `list the files in ..` keeps both of its dots. */
function stripEnd(text: string): string {
  return text.replace(/[?!\s]+$/, "").replace(/(?<=[\p{L}\p{N}_)"'`”’])\.$/u, "");
}
