/** Beside the bundle stands whose work is in it, and on what terms. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const FONTS = ["@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"];

export function licences(): Plugin {
  return {
    name: "licences",
    generateBundle() {
      const found = new Set<string>(FONTS);
      for (const id of this.getModuleIds()) {
        const inside = id.split("/node_modules/").pop();
        if (!inside || inside === id || id.startsWith("\0")) continue;
        found.add(inside.split("/").slice(0, inside.startsWith("@") ? 2 : 1).join("/"));
      }
      const texts = [...found].sort().map(entry);
      this.emitFile({ type: "asset", fileName: "assets/licences.txt", source: texts.join("\n\n") });
    },
  };
}

function entry(name: string): string {
  const folder = join("node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string; license?: string };
  const file = existsSync(folder) ? readdirSync(folder).find((one) => /^licen[cs]e/i.test(one)) : undefined;
  const text = file ? readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim() : (about.license ?? "");
  return `${name} ${about.version}\n${"-".repeat(60)}\n${text}\n`;
}
