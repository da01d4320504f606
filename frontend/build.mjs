// Bundles the panel and the card; `node build.mjs FOLDER` writes elsewhere than into the integration.
import { build } from "esbuild";

const target = process.argv[2] ?? "../custom_components/extended_assist/panel/built";

await build({
  entryPoints: ["src/panel.ts", "src/card.ts"],
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "eof",
});
