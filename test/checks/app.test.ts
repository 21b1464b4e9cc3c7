import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { assertStep, createCase } from '../support/factories/case-factory.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';
import { startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

interface App {
  meta?: Record<string, unknown>;
  mimeType?: string;
}

/** Runs one assertion on a server whose tools declare apps, and which serves one resource. */
async function run(era: 'legacy' | 'modern', tools: Record<string, App>, toolName?: string) {
  const announced: unknown[] = [];
  await using server = await startFixtureMcpServer(
    {},
    {
      era,
      capabilities: { tools: {}, resources: {} },
      prepare: (sdk) => {
        sdk.setRequestHandler('tools/list', (_, { mcpReq }) => {
          announced.push(sdk.getClientCapabilities()?.extensions ?? mcpReq.envelope);
          const listed = Object.entries(tools).map(([name, { meta }]) => ({
            name,
            inputSchema: { type: 'object' as const },
            ...(meta !== undefined && { _meta: meta }),
          }));
          return { tools: listed };
        });
        sdk.setRequestHandler('resources/list', () => ({ resources: [] }));
        sdk.setRequestHandler('resources/read', ({ params: { uri } }) => {
          const mimeType = Object.values(tools)[0]?.mimeType ?? 'text/html;profile=mcp-app';
          if (uri !== 'ui://weather/view') throw new Error('No such resource');
          return { contents: [{ uri, mimeType, text: '<!doctype html><title>Weather</title>' }] };
        });
      },
    },
  );
  const assertion = { type: 'appResourceValid' as const, ...(toolName !== undefined && { toolName }) };
  const target = { url: server.url, serverName: 'apps', protocol: era };
  const outcome = await runCase(createCase([assertStep(assertion)]), target, { clock: systemClock, timeoutMs: 20_000 });
  return { outcome, announced };
}

const meta = { ui: { resourceUri: 'ui://weather/view' } };

describe.each(['legacy', 'modern'] as const)('appResourceValid in the %s era', (era) => {
  it('passes on a valid app of any tool, in the present and the older form', async () => {
    const { outcome, announced } = await run(era, {
      a: { meta },
      b: { meta: { 'ui/resourceUri': 'ui://weather/view' } },
      c: {},
    });
    expect(outcome).toMatchObject({ status: 'completed', result: 'passed', error: null });
    expect(JSON.stringify(announced)).toContain('io.modelcontextprotocol/ui');
  });

  it('fails on an app of another MIME type', async () => {
    const { outcome } = await run(era, { a: { meta, mimeType: 'text/html' } });
    const error =
      'appResourceValid: "ui://weather/view" of a: its MIME type is "text/html", expected "text/html;profile=mcp-app".';
    expect(outcome).toMatchObject({ result: 'failed', error });
  });

  it('fails on a resource that the server does not have', async () => {
    const { outcome } = await run(era, { a: { meta: { ui: { resourceUri: 'ui://gone' } } } });
    expect(outcome).toMatchObject({ result: 'failed' });
    expect(outcome.error).toMatch(/^appResourceValid: "ui:\/\/gone" of a: resources\/read failed: /);
  });

  it('fails where no tool, or not this one, declares an app', async () => {
    const none = await run(era, { c: {} });
    expect(none.outcome.error).toBe(
      'appResourceValid: no tool of the server declares an app in `_meta.ui.resourceUri`.',
    );
    const other = await run(era, { a: { meta }, c: {} }, 'c');
    expect(other.outcome.error).toBe('appResourceValid: c declares no app in `_meta.ui.resourceUri`.');
    const missing = await run(era, { a: { meta } }, 'b');
    expect(missing.outcome.error).toMatch(/^appResourceValid: The server lists no tool "b"/);
  });
});

describe('appResourceValid without a server', () => {
  it('is not measured', async () => {
    expect((await judgeAssertion({ type: 'appResourceValid' }, createEvidence())).state).toBe('unmeasured');
  });
});
