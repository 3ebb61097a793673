// Type-aware lint: what the compiler lets through and review should not have to catch.

import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [
      "gen/",
      "node_modules/",
      "test/fixtures/",
      "test/clients/node/",
      "data/",
      "dist/",
      "coverage/",
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["*.js"] } } },
    rules: {
      // `${count} events` is what numbers in messages look like.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_+$" }],
      // An implementation may be async because its interface is.
      "@typescript-eslint/require-await": "off",
      // It does not see that a closure changes a variable.
      "@typescript-eslint/no-unnecessary-condition": "off",
      // `Promise<void> | void` is what a callback may return.
      "@typescript-eslint/no-invalid-void-type": "off",
      // `(message) => log(message)` reads better than a block for it.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Export by name." },
        { selector: "TSEnumDeclaration", message: "Use a union of literals." },
      ],
    },
  },
  {
    files: ["src/web/app/**"],
    plugins: { "react-hooks": reactHooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "no-restricted-globals": [
        "error",
        {
          name: "fetch",
          message: "Calls go through src/web/app/api, which knows who is signed in.",
        },
      ],
      "no-restricted-properties": [
        "error",
        { property: "dangerouslySetInnerHTML", message: "Nothing that was sent becomes HTML." },
        { property: "innerHTML", message: "Nothing that was sent becomes HTML." },
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Export by name." },
        { selector: "TSEnumDeclaration", message: "Use a union of literals." },
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Nothing that was sent becomes HTML.",
        },
      ],
    },
  },
  {
    files: ["**/*.config.ts", "*.config.js"],
    rules: { "no-restricted-syntax": "off" },
  },
  { files: ["**/*.js"], extends: [tseslint.configs.disableTypeChecked] },
);
