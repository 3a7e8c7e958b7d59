import { defineConfig } from "vite";

// One script and one style sheet under names the server knows; addresses relative to the page, which lives under a
// token.
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 1 << 20,
    chunkSizeWarningLimit: 2048,
    rollupOptions: {
      output: {
        entryFileNames: "studio.js",
        assetFileNames: "studio[extname]",
        inlineDynamicImports: true,
      },
    },
  },
});
