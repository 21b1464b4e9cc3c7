import { describe, expect, it } from 'vitest';
import { planOneServer } from '../../../src/gate/plan/plan-suites.ts';
import { readSuite } from '../../../src/suite/read.ts';

function plan(...servers: Array<string | null>) {
  const steps = servers.map(
    (server) => `      - toolCall: echo\n${server === null ? '' : `        server: ${server}\n`}`,
  );
  const text = `suite: S\ncases:\n  - title: calls\n    steps:\n${steps.join('')}`;
  const { suite, findings } = readSuite(text, { file: 'a.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  const planned = planOneServer(suite);
  const names = planned.suite.cases.flatMap(({ steps }) =>
    steps.map(({ step }) => (step.kind === 'toolCall' ? step.serverName : null)),
  );
  return { names, issues: planned.issues.map(({ line, code, message }) => `${line}: ${message} (${code})`) };
}

describe('planOneServer', () => {
  it('treats the only server name of a suite as the server under test', () => {
    expect(plan('demo', null, 'demo')).toEqual({ names: ['', '', ''], issues: [] });
  });

  it('refuses every step that calls another server than the first', () => {
    expect(plan(null, 'demo', 'other').issues).toEqual([
      '8: This step calls the server "other" and earlier ones call "demo", but a gate tests one server; take `server` out, or split the suite (several-servers)',
    ]);
  });
});
