import { describe, expect, it } from 'vitest';
import { nameJobSlot } from '../../src/gate/options/schema.ts';
import { detectCiContext } from '../../src/gate/plan/ci-job.ts';
import { listJobParts } from '../../src/gate/plan/plan-github.ts';

const shard = (index: number) => ({ index, total: 3 });

describe('nameJobSlot', () => {
  it('uses the given name, or otherwise the shard', () => {
    expect(nameJobSlot({ commentId: 'node-24', shard: shard(2) })).toBe('node-24');
    expect(nameJobSlot({ commentId: null, shard: shard(2) })).toBe('2/3');
    expect(nameJobSlot({ commentId: null, shard: null })).toBeNull();
  });
});

describe('two jobs of a matrix that the environment cannot tell apart', () => {
  const environment = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'o/r', GITHUB_RUN_ID: '1', GITHUB_JOB: 'evals' };
  const jobs = [
    { commentId: null, shard: shard(1) },
    { commentId: null, shard: shard(2) },
    { commentId: '0', shard: null },
    { commentId: '1', shard: null },
  ];

  it('have comments of their own', () => {
    const parts = jobs.map((job) => JSON.stringify(listJobParts(environment, nameJobSlot(job))));
    expect(new Set(parts).size).toBe(jobs.length);
  });

  it('have hosted runs of their own', () => {
    const git = { branch: null, commit: null, defaultBranch: null };
    const overrides = { branch: null, commit: null, baseRef: null };
    const detect = (job: (typeof jobs)[number]) =>
      detectCiContext({ ...overrides, ...job }, { environment, payload: {}, git }).invocation;
    expect(new Set(jobs.map(detect)).size).toBe(jobs.length);
  });
});
