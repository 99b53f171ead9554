/** The accessibility problems that axe finds on a page in its current state. */
import type { Page } from "playwright-core";

export async function complaints(page: Page): Promise<readonly string[]> {
  const { source } = (await import("axe-core")).default as unknown as { source: string };
  await page.evaluate(source);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 2)))",
  );
}
