/** Makes the compiler reject a `switch` that does not handle every case. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
