import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { type HomeAssistant, saidBy, send, text } from "./home_assistant";
import type { Outcome } from "./outcome";
import "./outcome";
import { styles } from "./styles";

const REFRESH = 15_000; // Milliseconds between looks while somebody looks.

/** One page of the panel: it loads what it shows, again while it is looked at, and says what went wrong. */
export abstract class View<T> extends LitElement {
  static override styles = [styles];

  @property({ attribute: false }) hass!: HomeAssistant;

  @state() protected data?: T;
  @state() protected error = "";
  /** What came of what was done here, by what it was done to. */
  @state() protected outcomes: Record<string, Outcome> = {};

  protected refresh = REFRESH;
  private timer = 0;

  protected abstract fetch(): Promise<T>;
  protected abstract show(data: T): TemplateResult;

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("visibilitychange", this.look);
    this.timer = window.setInterval(this.look, this.refresh);
    if (this.hasUpdated) void this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("visibilitychange", this.look);
    window.clearInterval(this.timer);
  }

  protected override firstUpdated(): void {
    void this.load();
  }

  private look = (): void => { if (!document.hidden) void this.load(); };

  load = async (): Promise<void> => {
    await this.attempt(async () => { this.data = await this.fetch(); });
  };

  /** Do something, and say what went wrong with it. */
  protected async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.error = "";
    } catch (error) {
      this.error = saidBy(this.hass, error);
    }
  }

  protected say(key: string, values?: Record<string, unknown>): string {
    return text(this.hass, key, values);
  }

  protected override render(): TemplateResult {
    return html`
      ${this.error ? html`<ha-card><p class="error" role="alert">${this.error}</p></ha-card>` : nothing}
      ${this.data === undefined ? nothing : this.show(this.data)}
    `;
  }

  /** Do something that may ask first, and keep what comes of it. */
  protected act(id: string, command: string, fields: Record<string, unknown>): Promise<void> {
    return this.attempt(async () => this.settle(id, await send<Outcome>(this.hass, command, fields)));
  }

  private async settle(id: string, outcome: Outcome): Promise<void> {
    this.outcomes = { ...this.outcomes, [id]: outcome };
    if (!outcome.question) await this.load();
  }

  protected outcomeOf(id: string, asked?: Outcome, raw = false): TemplateResult | typeof nothing {
    const outcome = this.outcomes[id] ?? asked;
    if (!outcome) return nothing;
    return html`<extended-assist-outcome
      ?raw=${raw}
      ?still=${outcome === asked}
      .hass=${this.hass}
      .outcome=${outcome}
      @answered=${(event: CustomEvent<Outcome>) => this.settle(id, event.detail)}
    ></extended-assist-outcome>`;
  }

  protected empty(key: string): TemplateResult {
    return html`<ha-card><p class="faint">${this.say(key)}</p></ha-card>`;
  }
}
