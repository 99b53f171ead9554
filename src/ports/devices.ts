/** The port that keeps the browsers that were let in, between two starts of the server. */

/** Only the hash of its secret is on the disk. */
export type Device = {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly since: number;
  /** When it last sent a request, to a few minutes; absent for those that an older Skein let in. */
  readonly usedAt?: number;
};

export type Devices = {
  /** Empty if the file cannot be read: then every browser must open the printed address again. */
  read(): readonly Device[];
  write(devices: readonly Device[]): void;
};
