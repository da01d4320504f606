import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { number, send, showEntity } from "../home_assistant";
import { View } from "../view";

const PAGE = 100;

interface Entity {
  entity_id: string;
  name: string;
  aliases: string[];
  area: string;
  exposed: boolean;
  families: string[];
  reasons: string[];
}

interface Visible {
  rows: Entity[];
  found: number;
  exposed: number;
}

/** What of the home the assistant sees, which tools read it, and why the rest is not found. */
@customElement("extended-assist-visible")
export class VisibleView extends View<Visible> {
  protected override refresh = 60_000;

  @state() private search = "";
  private offset = 0;

  protected fetch(): Promise<Visible> {
    return send(this.hass, "visible", { search: this.search, offset: this.offset });
  }

  private find(search: string): void {
    this.search = search;
    this.offset = 0;
    void this.load();
  }

  private turn(offset: number): void {
    this.offset = offset;
    void this.load();
  }

  protected show({ rows, found, exposed }: Visible): TemplateResult {
    return html`
      <ha-card>
        <label for="search">${this.say("visible.search")}</label>
        <input
          id="search"
          type="search"
          maxlength="100"
          .value=${this.search}
          @change=${(event: Event) => this.find((event.target as HTMLInputElement).value)}
        />
        <p class="faint" role="status">
          ${this.say("visible.found", { found: number(this.hass, found), exposed: number(this.hass, exposed) })}
        </p>
        <p><a href="/config/voice-assistants/expose">${this.say("visible.expose")}</a></p>
      </ha-card>
      ${rows.map((one) => this.row(one))}
      ${found > PAGE
        ? html`<div class="bar">
            <button ?disabled=${!this.offset} @click=${() => this.turn(Math.max(0, this.offset - PAGE))}>
              ${this.say("visible.before")}
            </button>
            <button ?disabled=${this.offset + PAGE >= found} @click=${() => this.turn(this.offset + PAGE)}>
              ${this.say("visible.after")}
            </button>
          </div>`
        : nothing}
    `;
  }

  private row(one: Entity): TemplateResult {
    const also = one.aliases.length ? ` · ${one.aliases.join(", ")}` : "";
    return html`<ha-card>
      <h2><button class="link" @click=${() => showEntity(this, one.entity_id)}>${one.name}</button></h2>
      <p class="faint">${one.entity_id}${one.area ? ` · ${one.area}` : nothing}${also}</p>
      ${one.families.length
        ? html`<ul class="chips" aria-label=${this.say("visible.read_by")}>
            ${one.families.map(
              (family) =>
                html`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${family}`) || family}
                </li>`,
            )}
          </ul>`
        : nothing}
      ${one.reasons.map((reason) => html`<p class="error">${this.say(`visible.why_${reason}`)}</p>`)}
    </ha-card>`;
  }
}
