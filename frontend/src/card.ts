// Loaded with every page: it names the card, and fetches what it is made of once one is shown.
import type { CardBody, Config } from "./card_body";
import type { HomeAssistant } from "./home_assistant";

const TYPE = "extended-assist-card";
const TEXTS = "component.extended_assist.config_panel.card.";

// Home Assistant exchanges the registry and HTMLElement as it starts, and what was defined before is unknown to its dashboards.
void customElements.whenDefined("home-assistant").then(() => {
  if (customElements.get(TYPE)) return;

  class AssistantCard extends HTMLElement {
    private config?: Config;
    private known?: HomeAssistant;
    private body?: CardBody;

    setConfig(config: Config): void {
      this.config = config;
      this.pass();
    }

    set hass(hass: HomeAssistant) {
      this.known = hass;
      this.pass();
    }

    connectedCallback(): void {
      if (this.body) return;
      void import("./card_body").then(() => {
        this.body ??= this.appendChild(document.createElement("extended-assist-card-body") as CardBody);
        this.pass();
      });
    }

    private pass(): void {
      if (this.body) Object.assign(this.body, { config: this.config, hass: this.known });
    }

    getCardSize(): number {
      return 4;
    }

    static getStubConfig(): Omit<Config, "type"> {
      return { standing: true, journal: true };
    }

    static getConfigForm(): unknown {
      return {
        schema: [
          { name: "title", selector: { text: {} } },
          { name: "agent_id", selector: { conversation_agent: {} } },
          { name: "standing", default: true, selector: { boolean: {} } },
          { name: "journal", default: true, selector: { boolean: {} } },
        ],
        computeLabel: (field: { name: string }, localize: HomeAssistant["localize"]) =>
          localize(`${TEXTS}field_${field.name}`) || field.name,
      };
    }
  }

  customElements.define(TYPE, AssistantCard);
});

const cards = ((window as { customCards?: unknown[] }).customCards ??= []);
cards.push({
  type: TYPE,
  name: "Extended Assist",
  get description(): string {
    const home = document.querySelector<HTMLElement & { hass?: HomeAssistant }>("home-assistant");
    return home?.hass?.localize(`${TEXTS}description`) || "Ask the assistant, see what is standing, and undo.";
  },
  preview: false,
  documentationURL: "https://github.com/extended-assist/extended-assist/blob/main/docs/panel.md",
});
