import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { countDraws } from '../support/property-runs.ts';
import { type EverythingServer, startEverythingServer } from '../support/servers/everything-server.ts';
import { createWorkspace } from '../support/workspace.ts';
import { tools } from './everything-cases.ts';

// server-everything as base and as change. A proxy can break one of its tools.

/** Tools that keep no state, so that iterations of both sides can share a server. */
const named = ['echo', 'get-sum', 'get-structured-content'];

/** The first case of each tool. */
const cases = named.flatMap((name) =>
  (tools[name] ?? []).slice(0, 1).map(({ steps, green }) => ({
    id: name,
    title: `Calls ${name}`,
    steps: [...steps, { assert: green }],
  })),
);
const evals = JSON.stringify({ suite: 'Everything', cases });

let everything: EverythingServer;
beforeAll(async () => {
  everything = await startEverythingServer();
});
afterAll(() => everything[Symbol.asyncDispose]());

/** Passes on what a server says, but for the result of its tool \`get-sum\`. */
async function breakSum(target: string): Promise<EverythingServer> {
  const server = createServer((incoming, response) => {
    const { method, headers, url = '' } = incoming;
    const passed = sendRequest(new URL(url, target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.setEncoding('utf8').on('data', (data: string) => response.write(data.replaceAll('is 5.', 'is 6.')));
      answer.on('end', () => response.end()).on('error', () => response.destroy());
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function compareWithEverything(headUrl: string, seed: number) {
  await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
  return await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': headUrl,
    base: `url=${everything.url}\nseed=${seed}`,
    'min-pass-rate': '0%',
  });
}

// The number of seeds is 10 in `npm run test:soak`.
const seeds = Array.from({ length: countDraws(10) }, (_, index) => index + 1);

describe('server-everything compared with itself', () => {
  it.each(seeds)('passes in the order of seed %d', async (seed) => {
    const { report, exitCode } = await compareWithEverything(everything.url, seed);
    expect(report.baseComparison).toMatchObject({ problem: null, isWorse: false, unpaired: 0, seed });
    expect(report.baseComparison?.cases).toHaveLength(named.length);
    expect(exitCode).toBe(0);
  });

  it('fails where one tool is broken, and names its case in summary, comment and annotation', async () => {
    await using broken = await breakSum(everything.url);
    const { report, exitCode } = await compareWithEverything(broken.url, 1);
    expect(exitCode).toBe(1);
    expect(report.baseComparison?.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(['get-sum']);
    const sentence = 'Worse than the base (`a running server`): 1 of 3 cases';
    expect(renderSummary(report)).toContain(`${sentence}.`);
    expect(renderSummary(report)).toContain('| ❌ worse | `Calls get-sum` |');
    expect(renderComment(report)).toContain(`${sentence} (\`Calls get-sum\`).`);
    const annotations = planAnnotations(report).map(({ title, message }) => `${title} ${message}`);
    expect(annotations.join('\n')).toContain('"Calls get-sum" is worse than the base (a running server)');
  });
});
