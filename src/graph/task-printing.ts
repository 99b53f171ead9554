/** What does `console.log` show of a thing whose parts are private, or lie deep? By the name that Node looks for. */

type Inspect = (value: unknown, options: object) => string;

/** What `show` gives is printed in its place; a place without Node prints as ever. */
export function printsAs<T extends object>(thing: T, show: (this: T) => object): T {
  return Object.defineProperty(thing, INSPECT, {
    value(this: T, _depth: number, options: object, inspect: Inspect) {
      return inspect(show.call(this), { ...options, depth: MAX_DEPTH });
    },
  });
}

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
/** As deep as anything here is. */
const MAX_DEPTH = 8;
