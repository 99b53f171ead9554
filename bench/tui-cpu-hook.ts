/** Loaded into a measured process: on SIGUSR2 it writes its processor time, in ms, into a file of its own. */
import { renameSync, writeFileSync } from "node:fs";

const folder = process.env["BENCH_CPU_FOLDER"];
let times = 0;
if (folder !== undefined)
  process.on("SIGUSR2", () => {
    const { user, system } = process.cpuUsage();
    times += 1;
    const file = `${folder}/${process.pid}-${times}`;
    writeFileSync(`${file}.part`, String((user + system) / 1_000));
    renameSync(`${file}.part`, file);
  });
