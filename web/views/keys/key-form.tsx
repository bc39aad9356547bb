/** The fields of a key that can be set and changed: scopes, models, tools, limits, expiry. */

import type { Signal } from "@preact/signals";
import type { KeyChangeBody, ListedKeyView } from "../../core/views.ts";
import { LIMITS } from "./budgets.tsx";

export interface KeyForm {
  readonly scopes: readonly string[];
  /** Separated by commas; empty for all. */
  readonly models: string;
  readonly tools: string;
  /** As typed; empty for none. */
  readonly limits: Readonly<Record<string, string>>;
  /** In days from now; empty for no change. */
  readonly days: string;
}

const USUAL = ["responses", "files", "models"];
const SCOPES = [...USUAL, "runs", "approve", "metrics", "admin"];

export function toForm(key: ListedKeyView | undefined): KeyForm {
  return {
    scopes: key?.scopes ?? USUAL,
    models: key?.models?.join(", ") ?? "",
    tools: key?.catalogue?.join(", ") ?? "",
    limits: Object.fromEntries(
      Object.entries(key?.limits ?? {}).map(([name, limit]) => [name, String(limit)]),
    ),
    days: "",
  };
}

/** The form's values in the API's form. Throws for a limit that is not a number. */
export function toChange({ scopes, models, tools, limits, days }: KeyForm): KeyChangeBody {
  return {
    scopes,
    models: toList(models),
    tools: toList(tools),
    limits: Object.fromEntries(
      Object.keys(LIMITS).map((name) => [name, toAmount(name, limits[name] ?? "")]),
    ),
    ...(days.trim() === "" ? {} : { expires_in_s: (toAmount("days", days) ?? 0) * 86_400 }),
  };
}

function toList(text: string): readonly string[] | null {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  return words.length === 0 ? null : words;
}

function toAmount(name: string, text: string): number | null {
  if (text.trim() === "") return null;
  const amount = Number(text);
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new Error(`${LIMITS[name]?.label ?? name}: “${text}” is not a number.`);
}

interface KeyFieldsProps {
  readonly form: Signal<KeyForm>;
  /** What an empty field for the days means. */
  readonly noDays: string;
}

export function KeyFields({ form, noDays }: KeyFieldsProps) {
  const set = (changed: Partial<KeyForm>): void => {
    form.value = { ...form.peek(), ...changed };
  };
  const { scopes, models, tools, limits, days } = form.value;
  return (
    <>
      <fieldset class="field">
        <legend>Scopes</legend>
        <div class="checks">
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={() =>
                  set({
                    scopes: scopes.includes(scope)
                      ? scopes.filter((one) => one !== scope)
                      : [...scopes, scope],
                  })
                }
              />
              {scope}
            </label>
          ))}
        </div>
      </fieldset>
      <div class="form-grid">
        <TextField
          label="Models"
          value={models}
          hint="all; or fast, openai/*"
          set={(value) => set({ models: value })}
        />
        <TextField
          label="Tools of the server"
          value={tools}
          hint="all; or bash_read"
          set={(value) => set({ tools: value })}
        />
        <TextField
          label="Expires in days"
          value={days}
          hint={noDays}
          set={(value) => set({ days: value })}
        />
        {Object.entries(LIMITS).map(([name, { label }]) => (
          <TextField
            key={name}
            label={label}
            value={limits[name] ?? ""}
            hint="no limit"
            set={(value) => set({ limits: { ...limits, [name]: value } })}
          />
        ))}
      </div>
    </>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  set(value: string): void;
}

export function TextField({ label, value, hint, set }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        autocomplete="off"
        value={value}
        placeholder={hint}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
