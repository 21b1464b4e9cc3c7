import { describe, expect, it } from 'vitest';
import { planStepServers } from '../../../src/gate/plan/plan-suites.ts';
import { serverUnderTest } from '../../../src/cases/step-server.ts';
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
    expect(plan(['demo', null, 'demo'])).toEqual({
      names: [serverUnderTest, serverUnderTest, serverUnderTest],
      issues: [],
    });
  });

  it('refuses every step that calls another server than the first', () => {
    expect(plan([null, 'demo', 'other']).issues).toEqual([
      '8: This step calls the server "other" and earlier ones call "demo", but a gate tests one server; take `server` out, or split the suite (several-servers)',
    ]);
  });

  it('is the only one of `mcp-config`, named or not', () => {
    expect(plan(['memory', null], ['memory'])).toEqual({ names: [serverUnderTest, serverUnderTest], issues: [] });
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

  describe.each([
    'readResource: note://7',
    'getPrompt: greet',
    'complete: city\n        prompt: greet',
    'listTools: true',
    'listResources: true',
    'listResourceTemplates: true',
    'listPrompts: true',
    'ping: true',
    'subscribe: note://7',
    'waitForUpdate: note://7',
  ])('of a step `%s`', (step) => {
    const planStep = (server: string, configured: string[]) => {
      const text = `suite: S\ncases:\n  - title: asks\n    setup: [{ subscribe: note://7 }]\n    steps:\n      - ${step}\n${server}`;
      const { suite, findings } = readSuite(text, { file: 'a.yaml' });
      if (suite === null) throw new Error(JSON.stringify(findings));
      const planned = planStepServers(suite, configured);
      const [asking] = planned.suite.cases[0]?.steps ?? [];
      const issues = planned.issues.flatMap(({ line, code }) => (line === 4 ? [] : `${line}: ${code}`));
      return { name: asking !== undefined && 'serverName' in asking.step ? asking.step.serverName : null, issues };
    };

    it('is named where there are several, and need not be where there is one', () => {
      const named = '        server: files\n';
      expect(planStep(named, ['memory', 'files'])).toEqual({ name: 'files', issues: [] });
      expect(planStep('', ['files'])).toEqual({ name: null, issues: [] });
      expect(planStep(named, ['files'])).toEqual({ name: serverUnderTest, issues: [] });
      expect(planStep(named, [])).toEqual({ name: serverUnderTest, issues: [] });
    });

    it('is an error where it is unknown, or not named and there are several', () => {
      expect(planStep('', ['memory', 'files']).issues).toEqual(['6: no-server']);
      expect(planStep('        server: flies\n', ['memory', 'files']).issues).toEqual(['6: unknown-server']);
    });
  });

  it('is named by each step that is repeated', () => {
    const text = `suite: S
cases:
  - title: repeats
    steps:
      - repeat: [{ ping: true, server: memory }, { listTools: true }]
        until: { toolNeverCalled: x }
`;
    const { suite } = readSuite(text, { file: 'a.yaml' });
    if (suite === null) throw new Error('The suite is invalid.');
    expect(planStepServers(suite, ['memory', 'files']).issues).toMatchObject([{ line: 5, code: 'no-server' }]);
  });
});
