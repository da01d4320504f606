import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { moment, send, showEntity } from "../home_assistant";
import { View } from "../view";

interface Change {
  id: string;
  time: number;
  kind: string;
  action: string;
  title: string;
  user: string | null;
  user_gone: boolean;
  device: string | null;
  entities: { entity_id: string; name: string; changes: { name: string; before: unknown; after: unknown }[] }[];
  more: number;
  undone: boolean;
  can_undo: boolean;
}

/** Kinds of the first release, and what they are called now. */
const SAME: Record<string, string> = { scheduled: "wish", cancelled: "wish_changed" };

/** What assistants did, with undo. */
@customElement("extended-assist-journal")
export class JournalView extends View<Change[]> {
  /** How many are shown; 0 for all. */
  @property({ type: Number }) limit = 0;

  protected fetch(): Promise<Change[]> {
    return send(this.hass, "journal/list");
  }

  protected show(changes: Change[]): TemplateResult {
    const shown = this.limit ? changes.slice(0, this.limit) : changes;
    if (!shown.length) return this.empty("journal.empty");
    return html`${shown.map((change) => this.row(change))}`;
  }

  private row(change: Change): TemplateResult {
    const who = [change.user ?? this.say(change.user_gone ? "journal.removed" : "journal.nobody"), change.device].filter(Boolean).join(" · ");
    return html`<ha-card>
      <div class="row">
        <div>
          <h2>${this.headline(change)}</h2>
          <p class="faint">
            ${moment(this.hass, change.time)} · ${who}${change.undone ? ` · ${this.say("journal.undone")}` : nothing}
          </p>
        </div>
        ${change.can_undo
          ? html`<button
              aria-label=${this.say("journal.undo_this", { what: this.headline(change) })}
              @click=${() => this.act(change.id, "journal/undo", { change: change.id })}
            >
              ${this.say("journal.undo")}
            </button>`
          : nothing}
      </div>
      ${change.entities.length
        ? html`<ul>
            ${change.entities.map(
              (one) =>
                html`<li>
                  <button class="link" @click=${() => showEntity(this, one.entity_id)}>${one.name}</button>
                  ${this.values(one)}
                </li>`,
            )}
          </ul>`
        : nothing}
      ${change.more ? html`<p class="faint">${this.say("journal.more", { count: change.more })}</p>` : nothing}
      ${this.outcomeOf(change.id)}
    </ha-card>`;
  }

  private headline(change: Change): string {
    if (change.kind === "states") return change.action || this.say("journal.kind_states");
    const kind = this.say(`journal.kind_${SAME[change.kind] ?? change.kind}`) || change.action;
    return change.title ? `${kind}: ${change.title}` : kind;
  }

  private values({ entity_id: entityId, changes }: Change["entities"][number]): string {
    const known = this.hass.states[entityId];
    const told = (name: string, value: unknown): string => {
      if (value === null || value === undefined) return "–";
      if (!known) return String(value);
      if (name === "state") return this.hass.formatEntityState(known, String(value));
      return this.hass.formatEntityAttributeValue(known, name, value);
    };
    return changes
      .map(({ name, before, after }) => {
        const label = name === "state" || !known ? "" : `${this.hass.formatEntityAttributeName(known, name)} `;
        return `${label}${told(name, before)} → ${told(name, after)}`;
      })
      .join(", ");
  }
}
