/** How a child is asked for its report: in the last paragraph of its task. */

/** Used if a call does not say how its child is to report. */
export const REPORT_WISH = "Summarize your findings concisely";

export function addReportWish(task: string, wish: string): string {
  return `${task}\n\n${wish}`;
}

/** The task without the usual last paragraph. */
export function dropReportWish(prompt: string): string {
  const end = addReportWish("", REPORT_WISH);
  return prompt.endsWith(end) ? prompt.slice(0, -end.length) : prompt;
}
