/** The marks that we put around words of others, so that a model sees where they begin and end. */

const MARKS = /<(\/?)(project_notes|skills?|changed_since)\b/gi;

/** Words of others open and close none of them. */
export function maskMarks(text: string): string {
  return text.replace(MARKS, "<$1_$2");
}
