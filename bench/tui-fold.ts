/** Follows a run's log and folds it without drawing. Prints "ready" once it has seen a given number of events. */
import { hasFailed } from "../src/core/result.ts";
import { nothingSeen, see } from "../src/core/view/view.ts";
import { projectAt } from "../test/web/place.ts";

const [folder = "", run = "", count = "0"] = process.argv.slice(2);
const home = await (await projectAt(folder, process.env)).runs.open(run);
if (hasFailed(home)) throw new Error(home.failure.message);
const seen = nothingSeen();
for await (const event of home.log.follow(0, new AbortController().signal)) {
  see(seen, event);
  if (seen.story.events === Number(count)) console.log("ready");
}
