/** How long did this process compute? Not how long it took: others may be at work on the same machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
