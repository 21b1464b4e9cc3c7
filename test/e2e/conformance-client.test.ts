import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError } from '../../src/base/errors.ts';
import { runScenario, scenarioSchema } from '../support/conformance/run-scenario.ts';
import { json, startHttpServer, type TestHttpServer } from '../support/network/http-server.ts';

const main = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const command = 'test/support/conformance/client-command.ts';

const attempts = 3;
const timeoutMs = 120_000;

/**
 * The product implements sessions, discovery, challenges and the limit of retries in all scenarios, and the grant of client credentials.
 * The test logs in and exchanges tokens between companies with the SDK, because a job can do neither.
 */
const scenarios = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/cross-app-access-complete-flow',
];

/** The errors with which the client ends if it must not contact the server any further. */
const refusals: Readonly<Record<string, string>> = {
  'auth/scope-retry-limit': 'Insufficient scope: required "mcp:admin"',
  'auth/resource-mismatch': 'Protected resource https://evil.example.com/mcp does not match',
};

describe('the client scenarios of the official conformance suite', () => {
  let driver: TestHttpServer;
  const errors = new Map<string, string>();
  const passed = new Map<string, number>();
  let offered: string[] = [];

  const run = async (args: readonly string[]) => {
    const client = `${process.execPath} ${command} ${driver.origin}`;
    const suite = spawn(process.execPath, [main, 'client', '--command', client, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([text(suite.stdout), text(suite.stderr)]);
    return `${stdout}\n${stderr}`;
  };

  beforeAll(async () => {
    driver = await startHttpServer(async (response, request) => {
      const asked = scenarioSchema.parse(JSON.parse(request.body));
      errors.delete(asked.scenario);
      await runScenario(asked).catch((error: unknown) => void errors.set(asked.scenario, describeError(error)));
      return json(errors.has(asked.scenario) ? 500 : 200, {})(response, request);
    });
    const output = await run(['--suite', 'all']);
    offered = [...output.matchAll(/^[✓✗] ([\w/-]+): /gm)].map(([, name = '']) => name);
    for (const [, name = '', count] of output.matchAll(/^✓ ([\w/-]+): (\d+) passed, 0 failed$/gm)) {
      passed.set(name, Number(count));
    }
    // On a busy machine, a client may reopen its stream late.
    for (const scenario of scenarios) {
      for (let attempt = 2; attempt <= attempts && !passed.has(scenario); attempt += 1) {
        const again = await run(['--scenario', scenario]);
        const [, count] = /^Passed: (\d+)\/\1, 0 failed, 0 warnings$/m.exec(again) ?? [];
        if (count !== undefined) passed.set(scenario, Number(count));
      }
    }
  }, timeoutMs);
  afterAll(async () => await driver[Symbol.asyncDispose]());

  it.each(scenarios)('pass: %s', (scenario) => {
    expect(passed.get(scenario)).toBeGreaterThan(0);
    const error = errors.get(scenario);
    const refusal = refusals[scenario];
    if (refusal === undefined) expect(error).toBeUndefined();
    else expect(error).toContain(refusal);
  });

  it('make at least 285 checks, and are all that the suite has', () => {
    expect([...passed.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(285);
    expect(offered.toSorted()).toEqual(scenarios.toSorted());
  });
});
