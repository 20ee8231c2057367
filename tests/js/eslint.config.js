// The checks of the components' JavaScript, and of its tests.

import js from "@eslint/js";
import globals from "globals";

// app/components/shared/bundle.py reads only the forms that remain.
const FORMS = [
  ["ImportExpression", "A bundle holds all its modules: import { name } from a file."],
  ["MetaProperty[meta.name='import']", "A bundle has no address."],
  ["ImportNamespaceSpecifier", "Import names."],
  ["ImportDeclaration[specifiers.length=0]", "Import names."],
  ["ExportAllDeclaration", "Export where it is declared."],
  ["ExportNamedDeclaration[specifiers.length>0]", "Export where it is declared."],
  ["ExportNamedDeclaration > VariableDeclaration[kind!='const']", "An export never changes."],
];

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-undef": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["app/components/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: { "no-restricted-syntax": ["error", ...FORMS.map(([selector, message]) => ({ selector, message }))] },
  },
  { files: ["tests/js/**/*.js"], languageOptions: { globals: globals.node } },
];
