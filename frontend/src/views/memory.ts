import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { View } from "../view";

interface Fact {
  id: string;
  words: string;
  whose: "household" | "me";
  said: string;
  until?: string;
}

/** What is remembered for the household and for this user, by Home Assistant actions that anybody can use. */
@customElement("extended-assist-memory")
export class MemoryView extends View<Fact[]> {
  @state() private asked = "";

  protected async fetch(): Promise<Fact[]> {
    const answer = await this.perform<{ facts: Fact[] }>("get_facts", {}, true);
    return answer?.facts ?? [];
  }

  private async perform<T>(action: string, data: Record<string, unknown>, answers = false): Promise<T | null> {
    const { response } = await this.hass.callWS<{ response: T | null }>({
      type: "call_service",
      domain: "extended_assist",
      service: action,
      service_data: data,
      return_response: answers,
    });
    return response;
  }

  private async forget(fact: Fact): Promise<void> {
    await this.attempt(async () => {
      await this.perform("forget", { ids: [fact.id] });
      this.asked = "";
      await this.load();
    });
  }

  protected show(facts: Fact[]): TemplateResult {
    if (!facts.length) return this.empty("memory.empty");
    return html`${facts.map(
      (fact) =>
        html`<ha-card>
          <div class="row">
            <div>
              <h2>${fact.words}</h2>
              <p class="faint">
                ${this.say(fact.whose === "me" ? "memory.own" : "memory.household")} · ${fact.said}${fact.until
                  ? ` · ${this.say("memory.until", { time: fact.until })}`
                  : nothing}
              </p>
            </div>
            <button
              aria-label=${this.say("memory.forget_this", { what: fact.words })}
              @click=${() => { this.asked = fact.id; }}
            >
              ${this.say("memory.forget")}
            </button>
          </div>
          ${this.asked === fact.id
            ? html`<div class="asked" role="group" aria-label=${this.say("questions.asked")}>
                <p>${this.say("memory.sure")}</p>
                <div class="bar">
                  <button class="main" @click=${() => this.forget(fact)}>${this.say("questions.yes")}</button>
                  <button @click=${() => { this.asked = ""; }}>
                    ${this.say("questions.no")}
                  </button>
                </div>
              </div>`
            : nothing}
        </ha-card>`,
    )}`;
  }
}
