import { html, nothing, svg, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { moment, number, send } from "../home_assistant";
import { View } from "../view";

const DAYS = 14;
const KINDS = ["input_tokens", "cached_tokens", "cache_written_tokens", "output_tokens"] as const;
const COLORS = ["--color-1, #4269d0", "--color-2, #f4bd4a", "--color-3, #ff725c", "--color-4, #6cc5b0"];
const PRICES = "extended_assist_prices";

type Kind = (typeof KINDS)[number];
type Prices = Record<string, Partial<Record<Kind, number>>>;

interface Agent {
  id: string;
  name: string;
  model: string;
  month_tokens: number;
  monthly_limit: number | null;
  sensors: Partial<Record<Kind | "requests", string>>;
}

interface Day {
  start: number;
  counts: Partial<Record<Kind | "requests", number>>;
}

type Rows = Record<string, { start: number; change: number | null }[]>;

interface Used {
  agents: Agent[];
  rows: Rows;
  prices: Prices;
}

const tokens = (day: Day): number => KINDS.reduce((sum, kind) => sum + (day.counts[kind] ?? 0), 0);

/** What each agent used by day, from the statistics of its sensors; what it cost by prices that this user entered. */
@customElement("extended-assist-usage")
export class UsageView extends View<Used> {
  protected override refresh = 60_000;

  @state() private saved = false;

  protected async fetch(): Promise<Used> {
    const agents = await send<Agent[]>(this.hass, "usage");
    const { value } = await this.hass.callWS<{ value: Prices | null }>({ type: "frontend/get_user_data", key: PRICES });
    const ids = agents.flatMap((agent) => Object.values(agent.sensors));
    const start = new Date();
    start.setDate(start.getDate() - DAYS + 1);
    start.setHours(0, 0, 0, 0);
    const rows = ids.length
      ? await this.hass.callWS<Rows>({
          type: "recorder/statistics_during_period",
          start_time: start.toISOString(),
          statistic_ids: ids,
          period: "day",
          types: ["change"],
        })
      : {};
    return { agents, rows, prices: value ?? {} };
  }

  private days(agent: Agent, rows: Rows): Day[] {
    const found = new Map<number, Day>();
    for (const [kind, id] of Object.entries(agent.sensors) as [Kind, string][])
      for (const { start, change } of rows[id] ?? []) {
        const day = found.get(start) ?? { start, counts: {} };
        day.counts[kind] = change ?? 0;
        found.set(start, day);
      }
    return [...found.values()].sort((one, other) => one.start - other.start);
  }

  protected show({ agents, rows, prices }: Used): TemplateResult {
    if (!agents.length) return this.empty("usage.no_agent");
    return html`${agents.map((agent) => this.agent(agent, this.days(agent, rows), prices[agent.id] ?? {}))}`;
  }

  private agent(agent: Agent, days: Day[], prices: Partial<Record<Kind, number>>): TemplateResult {
    const month = number(this.hass, agent.month_tokens);
    const limit = agent.monthly_limit ? number(this.hass, agent.monthly_limit) : "";
    return html`<ha-card>
      <h2>${agent.name}</h2>
      <p class="faint">
        ${agent.model} · ${limit ? this.say("usage.month_of", { month, limit }) : this.say("usage.month", { month })}
      </p>
      ${days.length ? html`${this.chart(days)}${this.table(days, prices)}` : html`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices", { currency: this.hass.config.currency })}</summary>
        <form @submit=${(event: SubmitEvent) => this.save(event, agent)}>
          ${KINDS.map(
            (kind) =>
              html`<label
                >${this.say(`usage.${kind}`)}
                <input name=${kind} type="number" min="0" step="any" .value=${String(prices[kind] ?? "")}
              /></label>`,
          )}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved ? html`<span role="status">${this.say("usage.saved")}</span>` : nothing}
          </div>
        </form>
      </details>
    </ha-card>`;
  }

  private async save(event: SubmitEvent, agent: Agent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const entered = KINDS.flatMap((kind) => (form.get(kind) ? [[kind, Number(form.get(kind))] as const] : []));
    await this.attempt(async () => {
      const value = { ...this.data?.prices, [agent.id]: Object.fromEntries(entered) };
      await this.hass.callWS({ type: "frontend/set_user_data", key: PRICES, value });
      this.saved = true;
      await this.load();
    });
  }

  private chart(days: Day[]): TemplateResult {
    const [width, height, gap] = [DAYS * 40, 140, 8];
    const most = Math.max(1, ...days.map(tokens));
    return html`
      <svg viewBox="0 0 ${width} ${height + 20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${days.slice(-DAYS).map((day, index) => {
          let top = height;
          return svg`
            ${KINDS.map((kind, color) => {
              const size = ((day.counts[kind] ?? 0) / most) * height;
              top -= size;
              return svg`<rect x=${index * 40 + gap / 2} y=${top} width=${40 - gap} height=${size}
                style="fill: var(${COLORS[color]})"></rect>`;
            })}
            <text x=${index * 40 + 20} y=${height + 15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${moment(this.hass, day.start / 1000, { day: "numeric" })}</text>`;
        })}
      </svg>
      <ul class="chips">
        ${KINDS.map(
          (kind, color) => html`<li style="border-color: var(${COLORS[color]})">${this.say(`usage.${kind}`)}</li>`,
        )}
      </ul>
    `;
  }

  private table(days: Day[], prices: Partial<Record<Kind, number>>): TemplateResult {
    const hasPrices = Object.keys(prices).length > 0;
    const cost = (day: Day): number =>
      KINDS.reduce((sum, kind) => sum + ((day.counts[kind] ?? 0) * (prices[kind] ?? 0)) / 1_000_000, 0);
    const money = { style: "currency", currency: this.hass.config.currency } as const;
    return html`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${hasPrices ? html`<th scope="col">${this.say("usage.cost")}</th>` : nothing}
      </tr>
      ${[...days].reverse().map(
        (day) =>
          html`<tr>
            <th scope="row">${moment(this.hass, day.start / 1000, { dateStyle: "medium" })}</th>
            <td>${number(this.hass, day.counts.requests ?? 0)}</td>
            <td>${number(this.hass, tokens(day))}</td>
            ${hasPrices ? html`<td>${number(this.hass, cost(day), money)}</td>` : nothing}
          </tr>`,
      )}
    </table>`;
  }
}
