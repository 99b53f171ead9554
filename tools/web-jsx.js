/** The function that the page's JSX compiles to: calls of `h` are 0.4 kB smaller, gzipped, than the usual runtime. */
export { Fragment, h } from "preact";
