import { getOctokit } from '@actions/github';

/** GitHub's own client. */
export type Octokit = ReturnType<typeof getOctokit>;

/** Makes a client. In `lib/`, this module is a bundle, because the packages of the client are a third of all that an install would add. */
export const createOctokit = getOctokit;
