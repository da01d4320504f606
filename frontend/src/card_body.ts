import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { type HomeAssistant, loadTexts, saidBy, text } from "./home_assistant";
import { styles } from "./styles";
import "./views/journal";
import "./views/standing";

const SHOWN = 3; // Of each list; the panel has the rest.

export interface Config {
  type: string;
  title?: string;
  agent_id?: string;
  standing?: boolean;
  journal?: boolean;
}

interface Said {
  conversation_id: string;
  response: { speech: { plain?: { speech: string } } };
}

/** What the card shows: it asks the assistant, and tells what is standing and what happened last. */
@customElement("extended-assist-card-body")
export class CardBody extends LitElement {
  static override styles = [
    styles,
    css`
      .asking { display: flex; gap: 8px; }
      .asking input { flex: 1; min-width: 0; }
      .list {
        --ha-card-border-width: 0;
        --ha-card-box-shadow: none;
        --ha-card-background: transparent;
        --assistant-padding: 4px 16px;
        --assistant-gap: 0;
        margin: 0 -16px;
      }
      .about { margin: 16px 0 0; }
    `,
  ];

  @property({ attribute: false }) hass?: HomeAssistant;
  @property({ attribute: false }) config?: Config;

  @state() private language = "";
  @state() private answer = "";
  @state() private error = "";
  @state() private busy = false;
  private conversation: string | null = null;

  protected override willUpdate(): void {
    const { hass } = this;
    if (hass && hass.language !== this.language)
      void loadTexts(hass).then(() => { this.language = hass.language; });
  }

  private async ask(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const { hass, config } = this;
    const form = event.target as HTMLFormElement;
    const words = String(new FormData(form).get("words") ?? "").trim();
    if (!hass || !words || this.busy) return;
    this.busy = true;
    this.error = "";
    try {
      const said = await hass.callWS<Said>({
        type: "conversation/process",
        text: words,
        language: hass.language,
        conversation_id: this.conversation,
        ...(config?.agent_id ? { agent_id: config.agent_id } : {}),
      });
      this.conversation = said.conversation_id;
      this.answer = said.response.speech.plain?.speech ?? "";
      form.reset();
      for (const list of this.renderRoot.querySelectorAll<HTMLElement & { load(): Promise<void> }>(".list > *"))
        void list.load();
    } catch (error) {
      this.error = saidBy(hass, error);
    }
    this.busy = false;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { hass, config } = this;
    if (!hass || !config || !this.language) return nothing;
    const ask = text(hass, "card.ask");
    return html`<ha-card>
      ${config.title ? html`<h2>${config.title}</h2>` : nothing}
      <form class="asking" @submit=${this.ask}>
        <input name="words" maxlength="2000" autocomplete="off" placeholder=${ask} aria-label=${ask} />
        <button class="main" ?disabled=${this.busy}>${text(hass, "card.send")}</button>
      </form>
      <p class="lines" role="status" aria-busy=${this.busy}>${this.answer}</p>
      ${this.error ? html`<p class="error" role="alert">${this.error}</p>` : nothing}
      ${config.standing === false
        ? nothing
        : html`<h2 class="about">${text(hass, "card.standing")}</h2>
            <div class="list"><extended-assist-standing .limit=${SHOWN} .hass=${hass}></extended-assist-standing></div>`}
      ${config.journal === false
        ? nothing
        : html`<h2 class="about">${text(hass, "card.last")}</h2>
            <div class="list"><extended-assist-journal .limit=${SHOWN} .hass=${hass}></extended-assist-journal></div>`}
    </ha-card>`;
  }
}
