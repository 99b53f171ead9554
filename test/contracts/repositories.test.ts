/** Runs the repository in git against the contract of repositories. */
import { GitRepository } from "../../src/adapters/repositories/git.ts";
import { repositoryContract } from "./repository.ts";

repositoryContract("in git", (folder) => new GitRepository({ folder }));
