import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { CaseReport } from '../../src/model/case-report.ts';
import { createCase } from '../support/factories/case-factory.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { startEverythingServer } from '../support/servers/everything-server.ts';
import { createWorkspace } from '../support/workspace.ts';
import { others, type Subject, tools } from './everything-cases.ts';

const subjects = [
  ...Object.entries(tools).flatMap(([name, all]) => all.map((subject, index) => [`${name} ${index + 1}`, subject])),
  ...Object.entries(others),
] as Array<[string, Subject]>;

const toId = (name: string, colour: string) => `${name.replaceAll(/[^a-z0-9]+/g, '-')}-${colour}`;

/** Runs both cases of every subject in one gate. JSON is also YAML. */
async function runAll(url: string): Promise<ReadonlyMap<string, CaseReport>> {
  const cases = subjects.flatMap(([name, { steps, client, green, red }]) =>
    Object.entries({ green, red }).map(([colour, assertion]) => ({
      id: toId(name, colour),
      title: `${name}, ${colour}`,
      ...(client !== undefined && { client }),
      steps: [...steps, { assert: assertion }],
    })),
  );
  const evals = JSON.stringify({ suite: 'Everything', concurrency: 8, cases });
  await using workspace = await createWorkspace({ 'everything.evals.yaml': evals });
  const inputs = { 'server-command': '', 'server-url': url, isolation: 'iteration' };
  const { report } = await runEmbeddedGate(workspace, inputs);
  return new Map(report.cases.map((each) => [each.id, each]));
}

const listing = z.object({
  content: z.tuple([
    z.object({ output: z.object({ value: z.object({ tools: z.array(z.object({ name: z.string() })) }) }) }),
  ]),
});

function findNames(messages: readonly unknown[]): string[] {
  return messages.flatMap((message) => {
    const { data } = listing.safeParse(message);
    return data?.content[0].output.value.tools.map(({ name }) => name) ?? [];
  });
}

describe('server-everything', () => {
  let found: ReadonlyMap<string, CaseReport>;
  let listed: string[];

  beforeAll(async () => {
    await using server = await startEverythingServer();
    const target = { url: server.url, serverName: 'everything', protocol: 'legacy' as const };
    const client = { elicitation: ['accept' as const], sampling: [{ text: '' }], roots: [] };
    const testCase = createCase([{ id: 'list', kind: 'listTools' }], {
      advancedConfig: { client },
    });
    const outcome = await runCase(testCase, target, { clock: systemClock, timeoutMs: 30_000 });
    listed = findNames(outcome.trace.messages);
    found = await runAll(server.url);
    // This run has fifty cases.
  });

  it('lists no tool to a client with all abilities that has no case here', () => {
    expect(listed.toSorted()).toEqual(Object.keys(tools).toSorted());
    expect(listed).toHaveLength(19);
  });

  it.each(subjects)('passes with %s as it is', (name) => {
    expect(found.get(toId(name, 'green'))).toMatchObject({ outcome: 'passed', failures: [] });
  });

  it.each(subjects)('fails where %s is another one, and says what it is', (name, { reason }) => {
    const failed = found.get(toId(name, 'red'));
    expect(failed).toMatchObject({ passed: 0, failed: 1 });
    const said = failed?.failures.flatMap(({ reasons }) => reasons).join(' ');
    expect(said).toEqual(typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason));
  });
});
