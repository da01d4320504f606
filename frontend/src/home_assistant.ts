// What of Home Assistant's frontend is used here.

export interface EntityState {
  entity_id: string;
  state: string;
  attributes: Record<string, unknown>;
}

export interface HomeAssistant {
  language: string;
  locale: { language: string; time_format: string; time_zone: string };
  config: { time_zone: string; currency: string };
  user?: { id: string; is_admin: boolean };
  states: Record<string, EntityState | undefined>;
  localize(key: string, values?: Record<string, unknown>): string;
  loadBackendTranslation(category: string, integration: string): Promise<unknown>;
  formatEntityState(state: EntityState, value?: string): string;
  formatEntityAttributeName(state: EntityState, name: string): string;
  formatEntityAttributeValue(state: EntityState, name: string, value?: unknown): string;
  callWS<T>(message: { type: string; [field: string]: unknown }): Promise<T>;
}

const DOMAIN = "extended_assist";

let texts: { language: string; loaded: Promise<unknown> } | undefined;

/** Load the texts of the integration in the user's language, once. */
export const loadTexts = (hass: HomeAssistant): Promise<unknown> => {
  const load = (part: string): Promise<unknown> => hass.loadBackendTranslation(part, DOMAIN);
  if (texts?.language !== hass.language)
    texts = { language: hass.language, loaded: Promise.all(["config_panel", "exceptions", "selector"].map(load)) };
  return texts.loaded;
};

/** Return a text of the panel, such as "journal.undo". */
export const text = (hass: HomeAssistant, key: string, values?: Record<string, unknown>): string =>
  hass.localize(`component.${DOMAIN}.config_panel.${key}`, values);

/** Send a command of the integration. */
export const send = <T>(hass: HomeAssistant, command: string, fields: Record<string, unknown> = {}): Promise<T> =>
  hass.callWS<T>({ type: `${DOMAIN}/${command}`, language: hass.language, ...fields });

/** Return what an error of a command says. */
export const saidBy = (hass: HomeAssistant, error: unknown): string => {
  const { code, message, translation_key: key } = error as Record<string, string | undefined>;
  const known = key && hass.localize(`component.${DOMAIN}.exceptions.${key}.message`);
  return known || message || code || String(error);
};

/** Return a moment, in seconds since the epoch, as this user reads it. */
export const moment = (hass: HomeAssistant, seconds: number, parts: Intl.DateTimeFormatOptions = {}): string => {
  const { language, time_format: clock, time_zone: zone } = hass.locale;
  return new Intl.DateTimeFormat(language, {
    ...(Object.keys(parts).length ? parts : { dateStyle: "medium", timeStyle: "short" }),
    timeZone: zone === "server" ? hass.config.time_zone : undefined,
    hour12: clock === "12" ? true : clock === "24" ? false : undefined,
  }).format(new Date(seconds * 1000));
};

/** Return a number as this user reads it. */
export const number = (hass: HomeAssistant, value: number, parts: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(hass.locale.language, parts).format(value);

/** Show what Home Assistant knows of an entity. */
export const showEntity = (element: HTMLElement, entityId: string): void => {
  element.dispatchEvent(new CustomEvent("hass-more-info", { detail: { entityId }, bubbles: true, composed: true }));
};
