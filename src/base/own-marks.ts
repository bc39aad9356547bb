/** The marks that we put around text of others, so that a model sees where it begins and ends. */

const MARKS = /<(\/?)(project_notes|skills?|changed_since)\b/gi;

/** Changes these marks in a text of others, so that it cannot open or close one. */
export function maskMarks(text: string): string {
  return text.replace(MARKS, "<$1_$2");
}
