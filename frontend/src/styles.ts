import { css } from "lit";

export const styles = css`
  :host {
    display: block;
    color: var(--primary-text-color);
    font-family: var(--ha-font-family-body, Roboto, sans-serif);
    font-size: var(--ha-font-size-m, 14px);
    line-height: var(--ha-line-height-normal, 1.5);
  }
  ha-card {
    display: block;
    box-sizing: border-box;
    padding: var(--assistant-padding, 16px);
    margin-bottom: var(--assistant-gap, 12px);
    background: var(--ha-card-background, var(--card-background-color));
    border: var(--ha-card-border-width, 1px) solid var(--ha-card-border-color, var(--divider-color));
    border-radius: var(--ha-card-border-radius, 12px);
    overflow-wrap: anywhere;
  }
  h2 { margin: 0 0 4px; font-size: var(--ha-font-size-l, 16px); font-weight: var(--ha-font-weight-medium, 500); }
  p { margin: 4px 0; }
  ul { margin: 8px 0; padding-inline-start: 20px; }
  a { color: inherit; }
  .faint { color: var(--secondary-text-color); }
  .row { display: flex; gap: 12px; align-items: flex-start; justify-content: space-between; }
  .row > :first-child { flex: 1; min-width: 0; }
  .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 8px 0; }
  .lines { white-space: pre-line; }
  .chips { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0 0; padding: 0; list-style: none; }
  .chips li {
    padding: 1px 8px;
    border: 1px solid var(--divider-color);
    border-radius: 999px;
    font-size: var(--ha-font-size-s, 12px);
  }
  .error { border-inline-start: 4px solid var(--error-color); padding-inline-start: 12px; }
  .asked { border-inline-start: 4px solid var(--primary-color); padding-inline-start: 12px; margin-top: 12px; }
  button,
  input,
  select,
  textarea { font: inherit; color: inherit; }
  button {
    min-height: 40px;
    padding: 0 16px;
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 999px;
    background: none;
    cursor: pointer;
    font-weight: var(--ha-font-weight-medium, 500);
  }
  button:hover:not([disabled]) { background: var(--secondary-background-color); }
  button.main { border: 2px solid var(--primary-color); }
  button[disabled] { opacity: 0.5; cursor: default; }
  button.link {
    min-height: 0;
    padding: 0;
    border: 0;
    border-radius: 4px;
    text-align: start;
    font-weight: inherit;
    text-decoration: underline;
    text-decoration-color: var(--divider-color);
    text-underline-offset: 3px;
  }
  label { display: block; margin: 8px 0 4px; }
  input,
  select,
  textarea {
    box-sizing: border-box;
    width: 100%;
    min-height: 44px;
    padding: 8px 12px;
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 8px;
    background: var(--card-background-color);
  }
  textarea { min-height: 96px; resize: vertical; }
  textarea,
  pre { font-family: var(--ha-font-family-code, monospace); font-size: var(--ha-font-size-s, 12px); }
  pre {
    max-height: 480px;
    overflow: auto;
    margin: 8px 0;
    padding: 12px;
    border-radius: 8px;
    background: var(--secondary-background-color);
    white-space: pre-wrap;
  }
  :focus-visible { outline: 2px solid var(--primary-color); outline-offset: 2px; }
  table { width: 100%; border-collapse: collapse; }
  th,
  td { padding: 6px 8px; border-bottom: 1px solid var(--divider-color); text-align: end; font-weight: normal; }
  th:first-child { text-align: start; }
`;
