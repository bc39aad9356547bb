/** The event that a webhook gets about a background response, in the words of the published API. */

export const WEBHOOK_EVENTS = [
  "response.completed",
  "response.failed",
  "response.incomplete",
  "response.cancelled",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

export interface WebhookEvent {
  /** The id of the event. Each try has the same one, so that a receiver recognises a repeated delivery. */
  readonly id: string;
  readonly object: "event";
  /** Seconds since 1970: when the response ended. */
  readonly created_at: number;
  readonly type: WebhookEventType;
  readonly data: { readonly id: string };
}
