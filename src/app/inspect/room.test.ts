/** Tests when the disk space of a run's workspaces is mentioned or warned of. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultConfig } from "../../config/read.ts";
import type { Inspection } from "../../ports/inspection.ts";
import { roomOfRun } from "./room.ts";

const GB = 1_000_000_000;

/** A repository of so many bytes on a disk with so many free ones. */
function toldOf({ bytes, free }: { readonly bytes: number; readonly free?: number }) {
  const looks = {
    repository: { around: async () => ({}), tree: async () => ({ files: 9, bytes, isCut: false }) },
    places: { disk: async () => free && { kind: "local", freeBytes: free, device: 1 } },
  } as unknown as Inspection;
  const config = { ...defaultConfig(), workers: 3, planners: 1 };
  const project = { located: { top: "/r" } as never, stateFolder: "/state" };
  return roomOfRun({ ...project, config }, "c", looks);
}

describe("the room that a run takes", () => {
  it("is said before it starts, beside what is free, where it is much", async () => {
    const told = await toldOf({ bytes: 2 * GB, free: 100 * GB });
    assert.match(
      told?.text ?? "",
      /^7 workspaces of 2\.0 GB take up to 14 GB, plus what is copied or built there; 100 GB are free$/,
    );
    assert.equal(told?.isTooMuch, false);
  });

  it("is a warning with what to do, where there is less", async () => {
    const told = await toldOf({ bytes: 0.1 * GB, free: 0.5 * GB });
    assert.ok(told?.isTooMuch);
    assert.match(
      told.text,
      /up to 700 MB.*; 500 MB are free: use fewer workers, free some space, or set SKEIN_STATE_DIR/,
    );
  });

  it("is not spoken of where it is little, also where nothing is known of the disk", async () => {
    assert.equal(await toldOf({ bytes: 1_000_000, free: 100 * GB }), undefined);
    assert.equal(await toldOf({ bytes: 1_000_000 }), undefined);
  });
});
