// Bundles the panel and the card; `node build.mjs FOLDER` writes elsewhere than into the integration.
import { rmSync } from "node:fs";
import { build } from "esbuild";

const target = process.argv[2] ?? "../custom_components/extended_assist/panel/built";

rmSync(target, { recursive: true, force: true });
await build({
  entryPoints: ["src/panel.ts", "src/card.ts"],
  outdir: target,
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "eof",
});
