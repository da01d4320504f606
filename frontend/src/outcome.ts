import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { type HomeAssistant, number, saidBy, send, text } from "./home_assistant";
import { styles } from "./styles";

export interface Outcome {
  done: boolean;
  /** Whether it is heard elsewhere, where what comes of it is told. */
  taken?: boolean;
  question?: { id: string; text: string };
  answer?: string;
  speech?: string;
  characters?: number;
  seconds?: number;
}

/** What came of something that was done by hand: its answer, or the question that it asks first, with yes and no. */
@customElement("extended-assist-outcome")
export class OutcomeElement extends LitElement {
  static override styles = [styles];

  @property({ attribute: false }) hass!: HomeAssistant;
  @property({ attribute: false }) outcome?: Outcome;
  /** Whether the answer is shown as the model reads it. */
  @property({ type: Boolean }) raw = false;

  /** Whether the question was there before: then it takes the focus from nothing. */
  @property({ type: Boolean }) still = false;

  @state() private busy = false;
  @state() private error = "";

  protected override updated(changed: PropertyValues): void {
    // What is asked is read out, and answered with the keyboard, without a search for it.
    const before = changed.get("outcome") as Outcome | undefined;
    const asked = this.outcome?.question?.id;
    if (changed.has("outcome") && asked && asked !== before?.question?.id && !this.still)
      this.renderRoot.querySelector<HTMLElement>(".asked")?.focus();
  }

  private async answer(agreed: boolean): Promise<void> {
    const question = this.outcome?.question;
    if (!question) return;
    this.busy = true;
    this.error = "";
    try {
      const detail = await send<Outcome>(this.hass, "questions/answer", { question: question.id, agreed });
      this.dispatchEvent(new CustomEvent("answered", { detail }));
    } catch (error) {
      this.error = saidBy(this.hass, error);
    }
    this.busy = false;
  }

  protected override render(): TemplateResult {
    const { outcome, hass } = this;
    return html`
      ${this.error ? html`<p class="error" role="alert">${this.error}</p>` : nothing}
      ${outcome?.question
        ? html`<div class="asked" role="group" tabindex="-1" aria-label=${text(hass, "questions.asked")}>
            <p class="lines">${outcome.question.text}</p>
            <div class="bar">
              <button class="main" ?disabled=${this.busy} @click=${() => this.answer(true)}>
                ${text(hass, "questions.yes")}
              </button>
              <button ?disabled=${this.busy} @click=${() => this.answer(false)}>${text(hass, "questions.no")}</button>
            </div>
          </div>`
        : outcome
          ? html`<div role="status">
              <p>${text(hass, `questions.${outcome.taken ? "taken" : outcome.done ? "done" : "not_done"}`)}</p>
              ${outcome.speech ? html`<p class="lines">${outcome.speech}</p>` : nothing}
              ${outcome.answer ? this.told(outcome.answer) : nothing}
              ${this.raw && outcome.characters !== undefined
                ? html`<p class="faint">
                    ${text(hass, "tools.size", {
                      characters: number(hass, outcome.characters),
                      seconds: number(hass, outcome.seconds ?? 0, { maximumFractionDigits: 3 }),
                    })}
                  </p>`
                : nothing}
            </div>`
          : nothing}
    `;
  }

  private told(answer: string): TemplateResult {
    const data = JSON.parse(answer) as Record<string, unknown>;
    if (this.raw) return html`<pre tabindex="0">${JSON.stringify(data, null, 2)}</pre>`;
    return html`<ul>
      ${lines(this.hass, data).map((line) => html`<li>${line}</li>`)}
    </ul>`;
  }
}

/** Return what an answer says, line by line, of entities by their names. */
const lines = (hass: HomeAssistant, data: unknown, key = ""): string[] => {
  if (Array.isArray(data)) return data.flatMap((one) => lines(hass, one, key));
  if (data && typeof data === "object")
    return Object.entries(data).flatMap(([name, value]) =>
      ["words_of_others", "made_at"].includes(name) ? [] : lines(hass, value, name),
    );
  const name = hass.states[key]?.attributes?.friendly_name ?? key.replaceAll("_", " ");
  return [name ? `${String(name)}: ${String(data)}` : String(data)];
};
