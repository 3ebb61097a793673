// How Vite builds the web app, and its development server: `npm run dev:web` shows changes at once
// and sends the calls of the app to the service at WAGGLE_SERVICE_URL.

import react from "@vitejs/plugin-react";
import { resolve } from "node:path";
import { defineConfig, loadEnv, type Plugin } from "vite";

/** Paths that the app calls at the service. */
const servicePaths = "^/(waggle\\.|auth/|v1/|events/|session/|openapi\\.json)";

/**
 * Begins each style sheet with the order of the layers: whichever chunk loads first, plain elements
 * stay below components.
 */
const layerOrder: Plugin = {
  name: "waggle:layer-order",
  enforce: "pre",
  transform: (code, id) =>
    /\/web\/app\/.*\.css$/.test(id) ? `@layer base, components, pages;\n${code}` : undefined,
};

const rulesFile = "buf/validate/validate.proto";

/**
 * Leaves the language of the validation rules out of the app: its descriptor is 70 kB, and only the
 * service reads rules. Files that import it need no more than a file of its name.
 */
const lightRules: Plugin = {
  name: "waggle:light-rules",
  enforce: "pre",
  load: (id) => {
    if (!id.endsWith("/gen/buf/validate/validate_pb.js")) return undefined;
    // Field 1 of a FileDescriptorProto: the name.
    const bytes = Buffer.from([0x0a, rulesFile.length, ...Buffer.from(rulesFile)]);
    return `import { fileDesc } from "@bufbuild/protobuf/codegenv2";
      export const file_buf_validate_validate = fileDesc("${bytes.toString("base64")}");`;
  },
};

/**
 * Puts small modules that at least six pages use into one file. By itself the bundler writes a
 * file for each set of pages, 177 in all, and the first page of a visit asked for 49 of them, with
 * more bytes in all.
 */
const sharedChunk = { name: "shared", minShareCount: 6, maxModuleSize: 40_000 };

export default defineConfig(({ mode }) => {
  const { WAGGLE_SERVICE_URL: target = "http://127.0.0.1:8080" } = loadEnv(mode, ".", "WAGGLE_");
  return {
    root: resolve(import.meta.dirname, "app"),
    appType: "spa",
    plugins: [layerOrder, lightRules, react()],
    build: {
      target: "es2023",
      emptyOutDir: true,
      assetsDir: "assets",
      // The policy of the page allows no fonts or scripts in addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2_000,
      rolldownOptions: { output: { codeSplitting: { groups: [sharedChunk] } } },
    },
    server: {
      port: 5173,
      strictPort: false,
      proxy: { [servicePaths]: { target } },
      fs: { allow: [resolve(import.meta.dirname, "../..")] },
    },
  };
});
