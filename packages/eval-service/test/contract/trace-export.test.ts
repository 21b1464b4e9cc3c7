import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceClient } from '../../../../src/service/create-client.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { startHttpServer } from '../../../../test/support/network/http-server.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Array<{ key: string; value: Record<string, unknown> }>;
}

/** All spans of an export, in their order. */
function listSpans(document: unknown): Span[] {
  // oxlint-disable-next-line typescript/no-explicit-any -- OTLP/JSON, read by its field names
  const { resourceSpans } = document as any;
  return resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: Array<{ spans: Span[] }> }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );
}

const listKeys = (span: Span | undefined) => span?.attributes.map(({ key }) => key) ?? [];
const findRoots = (spans: readonly Span[]) => spans.filter(({ parentSpanId }) => parentSpanId === undefined);

describe('the export of traces', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  let runId: string;
  beforeAll(async () => {
    mcp = await startEchoServer();
    service = await openContractService({ concurrency: 1 });
    const serverId = await saveServer(service, { url: mcp.url });
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('echo', { runs: 3 }), inlineTest('fail')]);
    const { body } = await service.project.post('/eval-runs', { suiteId });
    runId = String(body.runId);
    await waitForEnd(service, runId);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await mcp[Symbol.asyncDispose]();
  });
  const open = (profile: 'svc' | 'mcpjam' = 'svc') =>
    createServiceClient({ baseUrl: service.baseUrl, apiKey: service.apiKey, profile, maxAttempts: 1 });
  /** The documents of all pages. */
  const readAll = async (client: ReturnType<typeof open>, fields: { limit?: number; sourceTypes?: string } = {}) => {
    const documents = [];
    for await (const page of client.traceExport.exportTracesOtlp({ projectId: service.projectId, ...fields })) {
      documents.push(...page);
    }
    return documents;
  };

  it.each(ways)('exportTracesOtlp answers 200: the spans of all iterations ($way)', async ({ open: enter }) => {
    const { status, body } = await enter(service)('exportTracesOtlp', { projectId: service.projectId });
    const spans = listSpans(body);
    expect({ status, roots: findRoots(spans).map(({ name }) => name) }).toEqual({
      status: 200,
      roots: ['Calls echo', 'Calls echo', 'Calls echo', 'Calls fail'],
    });
    expect(spans.filter(({ name }) => name === 'tools/call echo')).toHaveLength(3);
    // Every other span is below one of the same trace.
    const ids = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    for (const { traceId, parentSpanId } of spans) {
      if (parentSpanId !== undefined) expect(ids).toContain(`${traceId} ${parentSpanId}`);
    }
    expect(spans.flatMap(listKeys)).not.toContain('gen_ai.tool.call.arguments');
    expect(listKeys(findRoots(spans)[0])).not.toContain('mcp_eval_ci.iteration.messages');
  });

  it.each(ways)('exportTracesOtlp answers 200: with content where asked for ($way)', async ({ open: enter }) => {
    const fields = { projectId: service.projectId, includeContent: true, sourceTypes: 'eval', limit: 1 };
    const { body } = await enter(service)('exportTracesOtlp', fields);
    const [root, ...others] = listSpans(body);
    expect(listKeys(root)).toContain('mcp_eval_ci.iteration.messages');
    const call = others.find(({ name }) => name === 'tools/call echo');
    expect(call?.attributes).toContainEqual({ key: 'gen_ai.tool.call.arguments', value: { stringValue: '{}' } });
    expect(listKeys(call)).toContain('gen_ai.tool.call.result');
  });

  it.each(ways)('exportTracesOtlp answers 400: fields that cannot be used ($way)', async ({ open: enter }) => {
    const send = enter(service);
    const { projectId } = service;
    for (const fields of [
      { projectId: '' },
      { projectId, sourceTypes: 'eval,other' },
      { projectId, includeContent: 'yes' },
      { projectId, cursor: 'nonsense' },
    ]) {
      const { status, code } = await send('exportTracesOtlp', fields);
      expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    }
  });

  it.each(ways)('exportTracesOtlp answers 404: no such project ($way)', async ({ open: enter }) => {
    const { status, code } = await enter(service)('exportTracesOtlp', { projectId: 'prj_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it('pages in the headers of both vendors, the last page marked complete', async () => {
    const path = `/trace-exports/otlp?projectId=${service.projectId}&limit=3`;
    const first = await service.root.get(path);
    const cursor = first.headers['x-svc-next-cursor'];
    expect(first.headers).toMatchObject({ 'x-mcpjam-next-cursor': cursor });
    expect(first.headers).not.toHaveProperty('x-svc-export-complete');
    const last = await service.root.get(`${path}&cursor=${String(cursor)}`);
    expect(last.headers).toMatchObject({ 'x-svc-export-complete': 'true', 'x-mcpjam-export-complete': 'true' });
    expect(last.headers).not.toHaveProperty('x-svc-next-cursor');
    const roots = [first, last].map(({ body }) => findRoots(listSpans(body)).length);
    expect(roots).toEqual([3, 1]);
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    const foreign = await service.root.get(`/trace-exports/otlp?projectId=${other.id}&cursor=${String(cursor)}`);
    expect(foreign.body.code).toBe('VALIDATION_ERROR');
  });

  it.each(['svc', 'mcpjam'] as const)('is read to its end by the client with the headers of %s', async (profile) => {
    await using client = open(profile);
    const documents = await readAll(client, { limit: 1 });
    expect(documents.map((document) => findRoots(listSpans(document)).length)).toEqual([1, 1, 1, 1]);
  });

  it('has nothing of sources that leave no traces', async () => {
    await using client = open();
    expect(await readAll(client, { sourceTypes: 'direct' })).toEqual([{ resourceSpans: [] }]);
  });

  it('is not read for ever where a page leads back to an earlier one', async () => {
    await using endless = await startHttpServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-svc-next-cursor': 'again' });
      response.end('{"resourceSpans":[]}');
    });
    await using client = createServiceClient({ baseUrl: `${endless.origin}/v1`, apiKey: 'sk_test' });
    await expect(readAll(client)).rejects.toThrow('The list of exportTracesOtlp does not end');
  });
});
