/** Measures this process's processor time, which other processes on the machine do not change. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
