import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// One script and one style sheet with fixed names: the Python package inlines both into the page.
export default defineConfig({
  plugins: [svelte()],
  build: {
    target: "es2022",
    outDir: process.env.RANKSCOPE_ASSETS ?? "../src/rankscope/reporting/assets",
    emptyOutDir: false,
    cssCodeSplit: false,
    assetsInlineLimit: Infinity,
    modulePreload: false,
    sourcemap: false,
    rollupOptions: {
      input: "src/main.ts",
      output: {
        format: "iife",
        entryFileNames: "page.js",
        assetFileNames: "page[extname]",
      },
    },
  },
});
