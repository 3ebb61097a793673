// The app's list of docs names every page of `docs/` once, and the README links to each of them.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { docGroups } from "../../../src/web/app/pages/reference/doc-pages.ts";

const files = readdirSync("docs").filter((name) => name.endsWith(".md"));

test("the app lists every page of docs/", () => {
  const names = docGroups.flatMap(({ pages }) => pages.map(({ name }) => `${name}.md`));

  expect(names.toSorted()).toEqual(files.toSorted());
});

test("the README links to every page of docs/", () => {
  const readme = readFileSync("README.md", "utf8");

  expect(files.filter((name) => !readme.includes(`](docs/${name})`))).toEqual([]);
});
