import { describe, expect, it } from 'vitest';
import { planStepServers } from '../../../src/gate/plan/plan-suites.ts';
import { readSuite } from '../../../src/suite/read.ts';

function plan(servers: Array<string | null>, configured: string[] = []) {
  const steps = servers.map(
    (server) => `      - toolCall: echo\n${server === null ? '' : `        server: ${server}\n`}`,
  );
  const text = `suite: S\ncases:\n  - title: calls\n    steps:\n${steps.join('')}`;
  const { suite, findings } = readSuite(text, { file: 'a.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  const planned = planStepServers(suite, configured);
  const names = planned.suite.cases.flatMap(({ steps }) =>
    steps.map(({ step }) => (step.kind === 'toolCall' ? step.serverName : null)),
  );
  return { names, issues: planned.issues.map(({ line, code, message }) => `${line}: ${message} (${code})`) };
}

describe('the server of a step', () => {
  it('treats the only server name of a suite as the server under test', () => {
    expect(plan(['demo', null, 'demo'])).toEqual({ names: ['', '', ''], issues: [] });
  });

  it('refuses every step that calls another server than the first', () => {
    expect(plan([null, 'demo', 'other']).issues).toEqual([
      '8: This step calls the server "other" and earlier ones call "demo", but a gate tests one server; take `server` out, or split the suite (several-servers)',
    ]);
  });

  it('is the only one of `mcp-config`, named or not', () => {
    expect(plan(['memory', null], ['memory'])).toEqual({ names: ['', ''], issues: [] });
    expect(plan(['memroy'], ['memory']).issues).toEqual([
      '5: This step calls the server `memroy`, which the gate does not test; did you mean `memory`? (unknown-server)',
    ]);
  });

  it('is named where `mcp-config` has several', () => {
    const configured = ['memory', 'files'];
    expect(plan(['files', 'memory'], configured)).toEqual({ names: ['files', 'memory'], issues: [] });
    expect(plan(['files', null, 'memmory', 'elsewhere'], configured).issues).toEqual([
      '7: This step names no server, and the gate tests 2; add `server: memory` or `server: files` (no-server)',
      '8: This step calls the server `memmory`, which the gate does not test; did you mean `memory`? (unknown-server)',
      '10: This step calls the server `elsewhere`, which the gate does not test; known here: `memory`, `files` (unknown-server)',
    ]);
  });

  it('cannot be named by a step that calls no tool', () => {
    const text = 'suite: S\ncases:\n  - title: reads\n    steps:\n      - readResource: note://7\n';
    const { suite } = readSuite(text, { file: 'a.yaml' });
    if (suite === null) throw new Error('The suite is invalid.');
    expect(planStepServers(suite, ['memory']).issues).toEqual([]);
    expect(planStepServers(suite, ['memory', 'files']).issues).toMatchObject([
      { line: 5, code: 'no-server', message: expect.stringContaining('`readResource` step names no server') },
    ]);
  });
});
