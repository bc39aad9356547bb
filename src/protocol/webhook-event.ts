/** What a webhook is told of a background response, in the words of the published API. */

export const WEBHOOK_EVENTS = [
  "response.completed",
  "response.failed",
  "response.incomplete",
  "response.cancelled",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

export interface WebhookEvent {
  /** The same for each try, so that whoever hears of it twice knows it again. */
  readonly id: string;
  readonly object: "event";
  /** Seconds since 1970: when the response ended. */
  readonly created_at: number;
  readonly type: WebhookEventType;
  readonly data: { readonly id: string };
}
