import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { html as named, unsafeStatic } from "lit/static-html.js";
import { type HomeAssistant, loadTexts, text } from "./home_assistant";
import { styles } from "./styles";
import "./views/journal";
import "./views/memory";
import "./views/questions";
import "./views/standing";
import "./views/tools";
import "./views/usage";
import "./views/visible";

const EVERYBODY = ["journal", "standing", "memory", "questions"];
const ADMINISTRATORS = ["usage", "visible", "tools"];

/** The panel in the sidebar. */
@customElement("extended-assist-panel")
export class AssistantPanel extends LitElement {
  static override styles = [
    styles,
    css`
      :host { min-height: 100vh; background: var(--primary-background-color); }
      header {
        position: sticky;
        top: 0;
        z-index: 2;
        background: var(--app-header-background-color, var(--primary-color));
        color: var(--app-header-text-color, var(--text-primary-color));
        border-bottom: var(--app-header-border-bottom, none);
      }
      .title {
        display: flex;
        align-items: center;
        height: var(--header-height, 56px);
        padding: 0 12px;
        font-size: var(--ha-font-size-xl, 20px);
      }
      h1 { margin: 0 12px; font: inherit; }
      nav { display: flex; min-height: 48px; overflow-x: auto; scrollbar-width: thin; }
      header nav a {
        flex: none;
        padding: 12px 16px;
        color: inherit;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      header nav a[aria-current] { border-bottom-color: currentcolor; font-weight: var(--ha-font-weight-medium, 500); }
      header nav a:focus-visible { outline-color: currentcolor; outline-offset: -4px; }
      main { box-sizing: border-box; max-width: 840px; margin: 0 auto; padding: 16px 16px 48px; }
    `,
  ];

  @property({ attribute: false }) hass!: HomeAssistant;
  @property({ type: Boolean, reflect: true }) narrow = false;
  @property({ attribute: false }) panel?: { title: string | null };
  @property({ attribute: false }) route?: { prefix: string; path: string };

  @state() private language = "";

  protected override willUpdate(changed: PropertyValues): void {
    const { language } = this.hass;
    if (changed.has("hass") && language !== this.language)
      void loadTexts(this.hass).then(() => { this.language = language; });
  }

  protected override updated(): void {
    this.renderRoot.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private go(event: MouseEvent, href: string): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", href);
    window.dispatchEvent(new CustomEvent("location-changed", { detail: { replace: false } }));
  }

  protected override render(): TemplateResult {
    const { hass } = this;
    const title = this.panel?.title || text(hass, "panel.title");
    const names = hass.user?.is_admin ? [...EVERYBODY, ...ADMINISTRATORS] : EVERYBODY;
    const wanted = this.route?.path.split("/")[1] ?? "";
    const current = names.includes(wanted) ? wanted : "journal";
    const view = unsafeStatic(`extended-assist-${current}`);
    const isReady = this.language !== ""; // Until then there are no words but the title.
    return html`
      <header>
        <div class="title">
          <ha-menu-button .hass=${hass} .narrow=${this.narrow}></ha-menu-button>
          <h1>${title}</h1>
        </div>
        <nav aria-label=${title}>
          ${(isReady ? names : []).map((name) => {
            const href = `${this.route?.prefix ?? "/extended-assist"}/${name}`;
            return html`<a
              href=${href}
              aria-current=${name === current ? "page" : nothing}
              @click=${(event: MouseEvent) => this.go(event, href)}
              >${text(hass, `panel.${name}`)}</a
            >`;
          })}
        </nav>
      </header>
      <main>${isReady ? named`<${view} .hass=${hass}></${view}>` : nothing}</main>
    `;
  }
}
