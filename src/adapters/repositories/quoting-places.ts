/** Where may conflict markers stand on purpose? By path: documents, tests and what they read, other people's files. */
import { isTestFile } from "./test-files.ts";

export function mayQuoteMarkers(path: string): boolean {
  const folders = path.toLowerCase().split("/");
  const name = folders.pop()!;
  return (
    folders.some((folder) => FOREIGN.has(folder) || QUOTING.test(folder)) ||
    DOCUMENT.test(name) ||
    RECORDED.test(name) ||
    isTestFile(path)
  );
}

/** "tests", "__snapshots__", "merge-fixtures", "test_data". */
const QUOTING =
  /^(?:t|.*\b_*(?:tests?|testing|test[-_]?(?:data|cases?|files?|suites?)|specs?|e2e|fixtures?|snapshots?|goldens?|mocks?|examples?|samples?|corpus|docs?|documentation|man|tutorials?)_*)$|_(?:tests?|specs?|fixtures?|examples?)$/;

const DOCUMENT =
  /\.(?:md|mdx|markdown|mkd|rst|adoc|asciidoc|asc|txt|text|org|tex|pod|rdoc|textile|wiki|[1-9])$|^(?:changelog|changes|news|license|copying|notice|readme|todo|contributing)$/;

/** What a program wrote, so that another could compare with it or apply it. */
const RECORDED = /\.(?:patch|diff|rej|orig|snap|golden|expected|approved|out|log)$/;

/** Folders of what is somebody else's, made by a program, or there to be read by a test. */
export const FOREIGN = new Set([
  ...["node_modules", "vendor", "vendored", "third_party", "third-party", "dist", "build", "out", "target"],
  ...["fixtures", "__fixtures__", "fixture", "testdata", "__snapshots__", "generated", "__generated__"],
]);
