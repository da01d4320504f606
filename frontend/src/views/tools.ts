import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { send } from "../home_assistant";
import { View } from "../view";

interface Tool {
  entry: string;
  entry_title: string;
  name: string;
  title: string;
  description: string;
  read_only: boolean;
  parameters: { properties?: Record<string, { type?: string; description?: string }>; required?: string[] };
}

/** Any tool, called by hand under the rules that hold for a model, with its answer as the model reads it. */
@customElement("extended-assist-tools")
export class ToolsView extends View<Tool[]> {
  protected override refresh = 2 ** 30; // What there is to choose from stays while somebody writes.

  @state() private chosen = 0;
  @state() private written = "{}";
  @state() private busy = false;

  protected fetch(): Promise<Tool[]> {
    return send(this.hass, "tools/list");
  }

  private choose(index: number): void {
    this.chosen = index;
    this.outcomes = {};
    const { required = [], properties = {} } = this.data?.[index]?.parameters ?? {};
    const empty = { object: {}, array: [], integer: 0, number: 0, boolean: false } as Record<string, unknown>;
    const begun = required.map((name) => [name, empty[properties[name]?.type ?? ""] ?? ""]);
    this.written = JSON.stringify(Object.fromEntries(begun), null, 2);
  }

  private async call(tool: Tool): Promise<void> {
    let given: unknown;
    try {
      given = JSON.parse(this.written || "{}");
    } catch {
      given = null;
    }
    if (!given || typeof given !== "object" || Array.isArray(given)) {
      this.error = this.say("tools.no_object");
      return;
    }
    this.busy = true;
    this.outcomes = {};
    const { entry, name } = tool;
    await this.act(name, "tools/call", { entry, tool: name, arguments: given });
    this.busy = false;
  }

  protected show(tools: Tool[]): TemplateResult {
    const tool = tools[this.chosen];
    if (!tool) return this.empty("tools.empty");
    const groups = [...new Set(tools.map((one) => one.entry))];
    return html`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${(event: Event) => this.choose(Number((event.target as HTMLSelectElement).value))}>
        ${groups.map(
          (entry) =>
            html`<optgroup label=${tools.find((one) => one.entry === entry)?.entry_title ?? entry}>
              ${tools.map((one, index) =>
                one.entry === entry
                  ? html`<option value=${index} ?selected=${index === this.chosen}>${one.title} (${one.name})</option>`
                  : nothing,
              )}
            </optgroup>`,
        )}
      </select>
      <p>${tool.description}</p>
      ${Object.keys(tool.parameters.properties ?? {}).length
        ? html`<ul>
            ${Object.entries(tool.parameters.properties ?? {}).map(
              ([name, one]) =>
                html`<li>
                  <code>${name}</code>${tool.parameters.required?.includes(name)
                    ? ` (${this.say("tools.required")})`
                    : nothing}
                  ${one.description ?? ""}
                </li>`,
            )}
          </ul>`
        : nothing}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${(event: Event) => { this.written = (event.target as HTMLTextAreaElement).value; }}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${() => this.call(tool)}>${this.say("tools.call")}</button>
        ${tool.read_only ? nothing : html`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcomeOf(tool.name, undefined, true)}
    </ha-card>`;
  }
}
