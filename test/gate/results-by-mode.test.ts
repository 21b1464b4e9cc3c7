import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureTool, refuse, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const tools: Record<string, FixtureTool> = {
  search: { call: ({ args }) => (args['mode'] === 'slow' ? refuse(-32_000, 'too slow') : text('found')) },
};

const cases = `  - title: Finds
    steps:
      - toolCall: search
        arguments: { mode: fast }
  - title: Refuses
    failOnToolError: false
    steps:
      - toolCall: search
        arguments: { mode: slow }
      - assert: { toolResultIsError: true }
  - title: Asks
    steps:
      - getPrompt: ask
      - readResource: note://2
`;

interface Mode {
  /** Keys of the suite. */
  suite?: string;
  policy?: string;
  inputs?: Record<string, string>;
  comparesWithItself?: boolean;
  prompts?: string[];
}

const modes: Record<string, Mode> = {
  plain: {},
  'in rounds': {
    suite: 'runs: { min: 2, max: 4 }\n',
    policy: 'minimumPassRate: 40%\nconfidence: 80%\n',
  },
  'next to its base': { comparesWithItself: true },
  'in rounds next to its base': {
    suite: 'runs: { min: 2, max: 4 }\n',
    policy: 'minimumPassRate: 40%\nconfidence: 80%\n',
    comparesWithItself: true,
  },
  'as a shard': { inputs: { shard: '1/1' } },
  'with retries': { policy: 'retryFailed: 1\n' },
};

async function runMode({ suite = '', policy = '', inputs = {}, comparesWithItself = false, prompts = ['ask'] }: Mode) {
  const capabilities = { tools: {}, prompts: {}, resources: {} };
  await using server = await startFixtureMcpServer(tools, {
    capabilities,
    prepare: (mcp) => {
      mcp.setRequestHandler('prompts/list', () => ({ prompts: prompts.map((name) => ({ name })) }));
      mcp.setRequestHandler('prompts/get', () => ({ messages: [] }));
      mcp.setRequestHandler('resources/list', () => ({ resources: [] }));
      mcp.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note' }],
      }));
      mcp.setRequestHandler('resources/read', ({ params }) => ({ contents: [{ uri: params.uri, text: 'one' }] }));
    },
  });
  await using workspace = await createWorkspace({
    'x.evals.yaml': `suite: x\n${suite}cases:\n${cases}`,
    'policy.yaml': `minimumCoverage: { tools: 100%, errors: 100%, prompts: 100%, templates: 100% }\n${policy}`,
  });
  const { report, evidence, exitCode } = await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': server.url,
    isolation: '',
    policy: 'policy.yaml',
    'report-formats': 'html, iterations, otlp',
    ...(comparesWithItself && { base: `url=${server.url}\nseed=1` }),
    ...inputs,
  });
  const lines = async (file: string) => {
    const written = await readFile(join(workspace.path, 'mcp-eval-report', file), 'utf8').catch(() => '');
    return written.split('\n').filter((line) => line !== '').length;
  };
  return {
    exitCode,
    uncovered: report.coverage?.items.filter(({ isCovered }) => !isCovered),
    unread: [report.coverage?.unread, report.coverage?.unreadTraces],
    iterations: report.totals.iterations,
    marks: evidence?.iterations.length,
    logged: await lines('iterations.jsonl'),
  };
}

describe('what a gate keeps of its iterations', () => {
  it.each(Object.entries(modes))('is all there when a suite runs %s', async (_name, mode) => {
    const { iterations, marks, logged, ...rest } = await runMode(mode);
    expect(rest).toEqual({ exitCode: 0, uncovered: [], unread: [null, 0] });
    expect(iterations).toBeGreaterThanOrEqual(3);
    expect([marks, logged]).toEqual([iterations, iterations]);
  });

  it.each(Object.entries(modes))('does not hold what no case does when a suite runs %s', async (name, mode) => {
    const { exitCode, uncovered } = await runMode({ ...mode, prompts: ['ask', 'tell'] });
    // The gate that merges the shards decides.
    expect(exitCode).toBe(name === 'as a shard' ? 0 : 1);
    expect(uncovered?.map(({ path }) => path)).toEqual([['tell']]);
  });
});
