// Parts of a page that scroll sideways.

import type { Page } from "playwright-core";

/**
 * Returns a line for each element of the page that has more than fits its width and scrolls. The
 * row of tabs is left out, which scrolls to the chosen tab by itself, and so is the table of a
 * chart's numbers, as wide as its groups.
 */
export async function findSideways(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`
    [...document.querySelectorAll("main *")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX))
      .filter((one) => !one.matches("[role=tablist], .tabs-bar, .chart-numbers, input, textarea"))
      .map((one) => {
        const name = one.getAttribute("aria-label") ?? one.className;
        return \`\${name} scrolls sideways: \${one.scrollWidth} in \${one.clientWidth} pixels\`;
      })
  `);
}
