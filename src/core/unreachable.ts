/** Is every case handled? The compiler rejects a call that it can reach. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
