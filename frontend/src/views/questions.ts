import { html, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { send } from "../home_assistant";
import { View } from "../view";

interface Question {
  id: string;
  kind: "by_hand" | "conversation" | "phone";
  text: string;
  seconds: number;
}

/** What waits for this user's yes or no, and what came of what was answered here. */
@customElement("extended-assist-questions")
export class QuestionsView extends View<Question[]> {
  protected override refresh = 5_000;

  protected fetch(): Promise<Question[]> {
    return send(this.hass, "questions/list");
  }

  protected show(questions: Question[]): TemplateResult {
    // What is asked on after an answer stays where it was answered, though it is another question now.
    const anew = Object.values(this.outcomes).map(({ question }) => question?.id);
    const waiting = questions.filter(({ id }) => !this.outcomes[id] && !anew.includes(id));
    const answered = Object.keys(this.outcomes);
    if (!waiting.length && !answered.length) return this.empty("questions.empty");
    return html`
      ${repeat(
        waiting,
        ({ id }) => id,
        (question) =>
          html`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${question.kind}`)} ·
              ${this.say("questions.minutes", { minutes: Math.max(1, Math.round(question.seconds / 60)) })}
            </p>
            ${this.outcomeOf(question.id, { done: false, question })}
          </ha-card>`,
      )}
      ${answered.map((id) => html`<ha-card>${this.outcomeOf(id)}</ha-card>`)}
    `;
  }
}
