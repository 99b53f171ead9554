/** Tests which server git-lfs may reach, and which login settings it gets. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { lfsSettings } from "./lfs.ts";
import type { GitSetting } from "./settings.ts";

const INSTALLED: GitSetting = ["filter.lfs.clean", "git-lfs clean"];

it("git-lfs has one address: of the settings, of the committed .lfsconfig, of the remote, or nobody's", async () => {
  await using at = await makeRepository({ files: { "a.txt": "a\n" } });
  const address = async (...settings: readonly GitSetting[]) =>
    (await lfsSettings(at.folder, [INSTALLED, ...settings])).address.map(([, value]) => value);
  const both = (url: string) => [url, url];
  assert.deepEqual(await address(), both("https://no-remote.invalid"));
  for (const [remote, url] of [
    ["https://git.example/x", "https://git.example/x.git/info/lfs"],
    ["https://git.example/x.git/", "https://git.example/x.git/info/lfs"],
    ["git@git.example:x.git", "git@git.example:x.git"],
    ["/srv/git/x.git", "/srv/git/x.git"],
  ] as const) {
    await at.git("config", "remote.origin.url", remote);
    assert.deepEqual(await address(), both(url));
  }
  const ofRemote: GitSetting = ["remote.origin.lfsurl", "https://of.remote"];
  assert.deepEqual(
    await address(["remote.other.lfsurl", "https://other"], ofRemote),
    both("https://of.remote"),
  );
  await at.write({ ".lfsconfig": "[lfs]\n\turl = https://not.committed\n" });
  assert.deepEqual(await address(ofRemote), both("https://of.remote"));
  await at.commit({ ".lfsconfig": "[lfs]\n\turl = https://committed\n" });
  assert.deepEqual(await address(ofRemote), both("https://committed"));
  assert.deepEqual(await address(["lfs.url", "https://said"], ["lfs.pushurl", "https://push"]), [
    "https://said",
    "https://push",
  ]);
});

it("git-lfs is let in by what the user's settings say, which agents are not shown", async () => {
  const settings: readonly GitSetting[] = [
    INSTALLED,
    ["lfs.url", "https://me:key@git.example/x"],
    ["credential.helper", ""],
    ["credential.helper", "store"],
    ["http.https://git.example.extraheader", "Authorization: key"],
  ];
  const { access, shown } = await lfsSettings("/nowhere", settings);
  assert.deepEqual(access, settings.slice(2));
  assert.deepEqual(shown, [
    ["lfs.url", "https://git.example/x"],
    ["lfs.pushurl", "https://git.example/x"],
  ]);
  const none = await lfsSettings("/nowhere", settings.slice(1));
  assert.deepEqual(none, { access: [], address: [], shown: [] }, "it is not installed");
});
