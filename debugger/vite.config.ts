import { defineConfig } from "vite";
import { licences } from "./scripts/licences";

// One script, one style sheet, fonts inside it: the same page can be written into a single file. Names carry
// no hash, because the bundle is committed.
export default defineConfig({
  base: "./",
  plugins: [licences()],
  build: {
    outDir: "../lctl/debugger/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    assetsInlineLimit: 200_000,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/debugger.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/debugger[extname]",
      },
    },
  },
});
