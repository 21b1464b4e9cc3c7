import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { TestCase } from '../../src/cases/case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { startFixtureMcpServer, text, type FixtureTool } from '../support/servers/fixture-mcp-server.ts';
import { startHttpServer } from '../support/network/http-server.ts';

const outputSchema = { type: 'object' as const, properties: { n: { type: 'number' } }, required: ['n'] };

const inputSchema = { type: 'object' as const };

const tools: Record<string, FixtureTool> = {
  good: { outputSchema, call: () => ({ content: [], structuredContent: { n: 1 } }) },
  wrong: { outputSchema, call: () => ({ content: [], structuredContent: { n: 'one' } }) },
  silent: { outputSchema, call: () => text('{"n":1}') },
  fails: { outputSchema, call: () => ({ ...text('no number'), isError: true }) },
  free: { call: () => ({ content: [], structuredContent: { anything: true } }) },
  odd: {
    outputSchema: { type: 'object', $schema: 'https://example.com/dialect' },
    call: () => ({ content: [], structuredContent: {} }),
  },
};

const eras = ['legacy', 'modern'] as const;
const options = { clock: systemClock, timeoutMs: 30_000 };

describe.each(eras)('runCase on a tool with an output schema, %s era', (era) => {
  async function run(toolName: string, overrides: Partial<TestCase> = {}) {
    await using server = await startFixtureMcpServer(tools, { era });
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    return await runCase(createCase([callStep(toolName)], overrides), target, options);
  }

  it.each(['good', 'free', 'odd'])('passes the result of "%s"', async (toolName) => {
    expect((await run(toolName)).result).toBe('passed');
  });

  it.each([
    ['wrong', 'wrong answered with structuredContent that breaks its own outputSchema: /n must be number.'],
    ['silent', 'silent declares an outputSchema and answered without structuredContent.'],
    ['fails', 'fails answered with an error: "no number".'],
  ])('fails the result of "%s" as a tool error', async (toolName, error) => {
    const outcome = await run(toolName);
    expect(outcome.result).toBe('failed');
    expect(outcome.error).toBe(error);
  });

  it('passes a result that breaks its schema when failOnToolError is false', async () => {
    expect((await run('wrong', { advancedConfig: { failOnToolError: false } })).result).toBe('passed');
  });

  it('still shows the result that breaks its schema to the assertions', async () => {
    await using server = await startFixtureMcpServer(tools, { era });
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const steps = [
      callStep('wrong'),
      assertStep({ type: 'toolResultEquals', path: '/n', value: 'one' }),
      assertStep({ type: 'toolResultIsError', isError: false }),
      assertStep({ type: 'noToolErrors' }),
    ];
    const outcome = await runCase(createCase(steps), target, options);
    expect(outcome.steps.map((step) => step.status)).toEqual(['fail', 'ok', 'ok', 'fail']);
  });
});

describe('runCase on a server that claims to be gone while it is asked for its tools', () => {
  it('fails, since no witness confirms it, and asks again in the next iteration', async () => {
    let lists = 0;
    await using server = await startHttpServer((response, { method, body }) => {
      if (method !== 'POST') return void response.writeHead(405).end();
      const { id, method: name } = JSON.parse(body) as { id?: number; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      if (name === 'tools/list') lists += 1;
      const gone = { code: -32_000, message: 'gone', data: { reason: 'server_exited' } };
      const answers: Record<string, object> = {
        initialize: {
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'raw', version: '0' },
          },
        },
        'tools/call': { result: { content: [], structuredContent: { n: 'one' } } },
        'tools/list':
          lists === 1 ? { error: gone } : { result: { tools: [{ name: 'sum', inputSchema, outputSchema }] } },
      };
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answers[name] }));
    });
    const target = { url: `${server.origin}/mcp`, serverName: 'raw', protocol: 'legacy' as const };
    const results: unknown[] = [];
    for (let i = 0; i < 2; i += 1) results.push((await runCase(createCase([callStep('sum')]), target, options)).result);
    expect(results).toEqual(['failed', 'failed']);
  });
});
