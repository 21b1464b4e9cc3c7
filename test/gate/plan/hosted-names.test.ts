import { describe, expect, it } from 'vitest';
import { type CiJob, nameHostedServer, nameHostedSuite } from '../../../src/gate/plan/ci-job.ts';

const context: CiJob = {
  system: 'github',
  systemName: 'GitHub Actions',
  repository: 'your-org/your-server',
  line: 'PR 7',
  isDefaultBranch: false,
  defaultBranch: 'main',
  commit: null,
  base: null,
  elevatedEvent: null,
  invocation: '["your-org/your-server","41","1","evals","",""]',
  label: '41.1 evals',
  build: { id: '41', job: 'evals', url: null, branch: 'main' },
};

describe('nameHostedSuite', () => {
  it.each([
    ['branch', context, 'Mine · PR 7'],
    ['branch', { ...context, line: 'main', isDefaultBranch: true }, 'Mine'],
    ['branch', { ...context, line: null }, 'Mine · local'],
    ['shared', context, 'Mine'],
    ['run', context, 'Mine · run 41.1 evals'],
  ] as const)('by %s', (scope, ci, name) => {
    expect(nameHostedSuite('Mine', scope, ci)).toBe(name);
  });
});

describe('nameHostedServer', () => {
  it('names the server, and differs for every invocation', () => {
    expect(nameHostedServer(context)).toMatch(/^mcp-eval-ci your-org\/your-server 41\.1 evals [0-9a-f]{10}$/);
    expect(nameHostedServer({ ...context, invocation: 'another' })).not.toBe(nameHostedServer(context));
  });

  it('has at most the 128 characters of the API, and differs even then', () => {
    const long = { ...context, repository: `your-org/${'x'.repeat(200)}` };
    expect(nameHostedServer(long)).toHaveLength(128);
    expect(nameHostedServer({ ...long, invocation: 'another' })).not.toBe(nameHostedServer(long));
  });
});
