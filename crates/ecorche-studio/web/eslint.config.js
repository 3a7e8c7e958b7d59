import js from "@eslint/js";
import tseslint from "typescript-eslint";

const GLOBALS = ["console", "document", "performance", "process", "WebSocket", "WebGL2RenderingContext"];

export default tseslint.config(
  { ignores: ["node_modules", "eslint.config.js"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    files: ["test/**"],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      parserOptions: { projectService: false },
      globals: Object.fromEntries(GLOBALS.map((name) => [name, "readonly"])),
    },
    rules: { "no-console": "off" },
  },
);
