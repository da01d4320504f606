import { html, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { send } from "../home_assistant";
import type { Outcome } from "../outcome";
import "../outcome";
import { View } from "../view";

interface Question {
  id: string;
  kind: "by_hand" | "conversation" | "phone";
  text: string;
  seconds: number;
}

/** What waits for this user's yes or no. */
@customElement("extended-assist-questions")
export class QuestionsView extends View<Question[]> {
  protected override refresh = 5_000;

  @state() private answered: Outcome[] = [];

  protected fetch(): Promise<Question[]> {
    return send(this.hass, "questions/list");
  }

  protected show(questions: Question[]): TemplateResult {
    if (!questions.length && !this.answered.length) return this.empty("questions.empty");
    return html`
      ${repeat(
        questions,
        (question) => question.id,
        (question) =>
          html`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${question.kind}`)} ·
              ${this.say("questions.minutes", { minutes: Math.max(1, Math.round(question.seconds / 60)) })}
            </p>
            <extended-assist-outcome
              still
              .hass=${this.hass}
              .outcome=${{ done: false, question }}
              @answered=${(event: CustomEvent<Outcome>) => {
                if (!event.detail.question) this.answered = [event.detail, ...this.answered];
                void this.load();
              }}
            ></extended-assist-outcome>
          </ha-card>`,
      )}
      ${this.answered.map(
        (outcome) =>
          html`<ha-card>
            <extended-assist-outcome .hass=${this.hass} .outcome=${outcome}></extended-assist-outcome>
          </ha-card>`,
      )}
    `;
  }
}
