/**
 * The processor time of this process, which other processes on the machine do not change as they change elapsed time.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
