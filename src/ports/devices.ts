/** Which browsers were let in? Kept between two starts of the server. */

/** Its secret itself is nowhere on the disk: only the hash. */
export type Device = {
  readonly id: string;
  readonly hash: string;
  readonly name: string;
  readonly since: number;
  /** When it last asked for something, to a few minutes; unknown of those that an older Skein let in. */
  readonly usedAt?: number;
};

export type Devices = {
  /** Empty if they cannot be read: then every browser opens the printed address again. */
  read(): readonly Device[];
  write(devices: readonly Device[]): void;
};
