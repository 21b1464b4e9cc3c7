import { describe, expect, it } from 'vitest';
import { detectCiContext } from '../../../src/gate/plan/ci-job.ts';
import { ciExamples, detachedCheckout, headCommit } from '../../support/runner/ci-variables.ts';

const nothing = { branch: null, commit: null, baseRef: null, commentId: null, shard: null };

function detect(
  variables: Readonly<Record<string, string>>,
  { overrides = {}, git = {} }: { overrides?: object; git?: object } = {},
) {
  const sources = { environment: variables, payload: {}, git: { ...detachedCheckout, ...git } };
  return detectCiContext({ ...nothing, ...overrides }, sources);
}

const pick = (name: string) => ciExamples[name]?.variables ?? {};

describe('detectCiContext', () => {
  it.each(Object.entries(ciExamples))('reads %s', (_, { variables, expected }) => {
    const { line, commit, isDefaultBranch, defaultBranch, base } = detect(variables);
    const { noun, ...rest } = base ?? { noun: null };
    expect({ line, commit, isDefaultBranch, defaultBranch, base: noun === null ? null : rest }).toEqual(expected);
  });

  it.each(Object.entries(ciExamples))('lets the variables of %s win over git', (_, { variables, expected }) => {
    const { line } = detect(variables, { git: { branch: 'another' } });
    // A tag has no branch, whatever git has checked out. If the variables name nothing, the branch is git's.
    const isSilent = expected.line === null && !Object.keys(variables).some((name) => /TAG|SOURCEBRANCH/.test(name));
    expect(line).toBe(isSilent ? 'another' : expected.line);
  });

  it("uses the system's name for a change request", () => {
    expect(detect(pick('GitLab, merge request')).base?.noun).toBe('merge request');
    expect(detect(pick('Buildkite, pull request')).base?.noun).toBe('pull request');
  });

  it('takes the variables of GitHub before those of any other system', () => {
    const both = { ...pick('GitLab, merge request'), GITHUB_ACTIONS: 'true', GITHUB_REF_NAME: 'change' };
    expect(detect(both)).toMatchObject({ system: 'github', line: 'change', base: null });
  });

  it('prefers the options to all variables', () => {
    const overrides = { branch: 'release', commit: 'f'.repeat(40), baseRef: 'origin/stable' };
    expect(detect(pick('GitLab, push to a branch'), { overrides })).toMatchObject({
      line: 'release',
      commit: 'f'.repeat(40),
      base: { branch: 'stable', revisions: ['refs/remotes/origin/stable', 'refs/heads/stable'] },
    });
    const main = detect(pick('GitLab, push to a branch'), { overrides: { branch: 'main' } });
    expect(main).toMatchObject({ line: 'main', isDefaultBranch: true, commit: headCommit });
    expect(detect({}, { overrides: { baseRef: 'e'.repeat(40) } }).base?.revisions).toEqual(['e'.repeat(40)]);
  });

  it('takes branch and commit from git where no CI system is known', () => {
    const git = { branch: 'main', commit: headCommit };
    expect(detect({ CI: 'true' }, { git })).toMatchObject({ line: 'main', commit: headCommit, isDefaultBranch: true });
    // A developer's checkout may contain anything, and must not change data that jobs of the branch share.
    expect(detect({}, { git })).toMatchObject({ line: 'main', commit: headCommit, isDefaultBranch: false });
  });

  it('ignores a commit that is no hash', () => {
    const variables = { ...pick('GitLab, merged results'), CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '--output=x' };
    expect(detect(variables).base?.revisions).toEqual(['refs/remotes/origin/main']);
  });
});
