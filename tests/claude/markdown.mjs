// Renders texts as Home Assistant's frontend does: reads a JSON list of Markdown, writes a JSON list of HTML.
// The first argument is the worker that the frontend renders Markdown in; it is called as the frontend calls it.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const waiting = new Map();
let onMessage;
globalThis.self = globalThis;
globalThis.location = { href: "http://home/", origin: "http://home" };
globalThis.addEventListener = (_type, listener) => (onMessage = listener);
globalThis.removeEventListener = () => {};
globalThis.postMessage = (message) => waiting.get(message.id)(message);
globalThis.importScripts = () => {
  throw new Error("the worker has more parts than one");
};
runInThisContext(readFileSync(process.argv[2], "utf8"));

const render = (id, text) =>
  new Promise((resolve) => {
    waiting.set(id, resolve);
    const argumentList = [text, { breaks: true, gfm: true }, {}].map((value) => ({ type: "RAW", value }));
    onMessage({ data: { id, type: "APPLY", path: ["renderMarkdown"], argumentList }, origin: "" });
  });

const texts = JSON.parse(readFileSync(0, "utf8"));
const rendered = [];
for (const [id, text] of texts.entries()) rendered.push((await render(String(id), text)).value);
process.stdout.write(JSON.stringify(rendered.map((parts) => parts.join(""))));
