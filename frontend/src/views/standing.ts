import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { moment, send } from "../home_assistant";
import { View } from "../view";

interface Wish {
  id: string;
  name: string;
  next: number | null;
  lines: string[];
  user: string | null;
  is_own: boolean;
  in_vain: boolean;
  result: string | null;
}

/** What is to happen later, with a way to end it. */
@customElement("extended-assist-standing")
export class StandingView extends View<Wish[]> {
  /** How many are shown; 0 for all. */
  @property({ type: Number }) limit = 0;

  protected fetch(): Promise<Wish[]> {
    return send(this.hass, "wishes/list");
  }

  protected show(wishes: Wish[]): TemplateResult {
    const shown = this.limit ? wishes.slice(0, this.limit) : wishes;
    if (!shown.length) return this.empty("standing.empty");
    return html`${shown.map((wish) => this.row(wish))}`;
  }

  private row(wish: Wish): TemplateResult {
    const next = wish.next ? moment(this.hass, wish.next) : this.say("standing.waits");
    const whose = wish.is_own ? this.say("standing.own") : (wish.user ?? this.say("standing.household"));
    return html`<ha-card>
      <div class="row">
        <div>
          <h2>${wish.name}</h2>
          <p class="faint">${next} · ${whose}</p>
        </div>
        <button aria-label=${this.say("standing.cancel_this", { what: wish.name })} @click=${() => this.act(wish.id, "wishes/cancel", { wish: wish.id })}>
          ${this.say("standing.cancel")}
        </button>
      </div>
      ${wish.lines.map((line) => (line === wish.name ? nothing : html`<p class="lines">${line}</p>`))}
      ${wish.in_vain ? html`<p class="error">${this.say("standing.in_vain")}</p>` : nothing}
      ${wish.result ? html`<p class="faint">${this.say("standing.last", { result: wish.result })}</p>` : nothing}
      ${this.outcomeOf(wish.id)}
    </ha-card>`;
  }
}
