import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Report } from '../../src/model/report.ts';
import { publishTraces } from '../../src/gate/publish/publish-online.ts';
import { parseCollectorUrl } from '../../src/otlp/collector.ts';
import { openContractService } from '../support/service/contract-service.ts';
import { startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import { stdioServerCommand } from '../support/servers/running-server.ts';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { findClosedPort, json, startHttpServer } from '../support/network/http-server.ts';
import { createWorkspace } from '../support/workspace.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Array<{ key: string; value: { stringValue?: string } }>;
  status: { code?: number; message?: string };
}

const files = { 'says.evals.yaml': writeSayingCases('Sayings', ['one', 'two']) };
const says = { says: 'one', environment: { PATH: process.env['PATH'] ?? '' } };
const sendingTo = (endpoint: string, more: Record<string, string> = {}) => ({
  ...says,
  environment: { ...says.environment, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more },
});

function readSpans(lines: string): Span[] {
  const requests = lines.trimEnd().split('\n');
  return requests.flatMap((line): Span[] => JSON.parse(line).resourceSpans[0].scopeSpans[0].spans);
}

function readAttribute({ attributes }: Span, name: string): string | undefined {
  return attributes.find(({ key }) => key === name)?.value.stringValue;
}

async function sendTo(origin: string, tracePath: string | null): Promise<string> {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warning: (message: string) => void warnings.push(message) };
  const { signal } = new AbortController();
  const target = { endpoint: origin, variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', isWhole: false, headers: new Map() };
  const proxy = { httpProxy: null, httpsProxy: null, noProxy: null };
  const address = { url: parseCollectorUrl(target), headers: target.headers, proxy, secrets: [] };
  await publishTraces(tracePath ?? '', address, { clock: systemClock, logger, signal });
  return warnings.join('\n');
}

describe('the traces of a gate', () => {
  it('are sent to the collector, whole, of what passed and what failed', async () => {
    await using workspace = await createWorkspace(files);
    await using collector = await startHttpServer(json(200, {}));
    const { exitCode, infos, warnings } = await runEmbeddedGate(
      workspace,
      { 'server-command': `${stdioServerCommand} one` },
      sendingTo(collector.origin, { OTEL_EXPORTER_OTLP_HEADERS: 'X-Api-Key=collector-key-0123456789' }),
    );
    expect({ exitCode, warnings }).toEqual({ exitCode: 1, warnings: [] });
    const sent = collector.requests.map(({ body }) => body).join('\n');
    expect(collector.requests[0]?.headers['x-api-key']).toBe('collector-key-0123456789');
    expect(`${sent}\n`).toBe(await workspace.read('mcp-eval-report/traces.otlp.jsonl'));

    const spans = readSpans(sent);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    const result = 'test.case.result.status';
    expect(roots.map((span) => [span.name, readAttribute(span, result), span.status.code])).toEqual([
      ['Says one', 'pass', undefined],
      ['Says two', 'fail', 2],
    ]);
    for (const { traceId } of roots) {
      const below = spans.filter((span) => span.traceId === traceId && span.parentSpanId !== undefined);
      expect(below.map(({ name }) => name)).toContain('tools/call argv');
    }
    expect(infos).toContain(`Sent ${spans.length} spans to 127.0.0.1:${collector.port}.`);
    // Only the report has the command of the server.
    expect(sent).not.toContain('stdio-server.mjs');
  });

  it('are written to a file without a collector if they are a report format', async () => {
    await using workspace = await createWorkspace(files);
    await runEmbeddedGate(workspace, { 'report-formats': 'otlp' }, says);
    const roots = readSpans(await workspace.read('mcp-eval-report/traces.otlp.jsonl')).filter(
      ({ parentSpanId }) => parentSpanId === undefined,
    );
    expect(roots).toHaveLength(2);
  });

  it('do not change the verdict if the collector is unreachable, refuses them or drops some', async () => {
    await using workspace = await createWorkspace({
      ...files,
      'mcp-eval-report/traces.otlp.jsonl': 'of an earlier gate\n',
    });
    const closed = `http://127.0.0.1:${await findClosedPort()}`;
    await using refusing = await startHttpServer(json(403, { code: 'FORBIDDEN', message: 'no traces here' }));
    const partialSuccess = { rejectedSpans: '1', errorMessage: 'too old' };
    await using choosy = await startHttpServer(json(200, { partialSuccess }));
    const { exitCode, warnings, tracePath } = await runEmbeddedGate(workspace, {}, sendingTo(closed));
    expect(exitCode).toBe(1);
    expect(warnings.join('\n')).toMatch(
      /^Could not send every trace to 127\.0\.0\.1:\d+ \(none was sent\): No answer from .*ECONNREFUSED.* All of them are in traces\.otlp\.jsonl\. The verdict stands\.$/,
    );
    expect(await workspace.read('mcp-eval-report/traces.otlp.jsonl')).not.toContain('earlier gate');
    expect(await sendTo(refusing.origin, tracePath)).toMatch(
      /answered 403 FORBIDDEN .* no traces here\. .*The verdict stands\.$/,
    );
    expect(await sendTo(choosy.origin, tracePath)).toMatch(/left out 1 span: too old\. The verdict stands\.$/);
  });

  it('are sent to the server, so that its own spans come below the calls', async () => {
    const asks = (id: string) =>
      `suite: Joins\ncases:\n  - id: ${id}\n    title: Joins\n    steps:\n      - toolCall: traceparent\n      - assert: { toolResultContains: nothing }\n`;
    await using workspace = await createWorkspace({ 'joins.evals.yaml': asks('joins') });
    const readReason = ({ cases }: Report) => cases[0]?.failures[0]?.reasons.join('\n');
    const started = { 'server-command': stdioServerCommand };
    const { report } = await runEmbeddedGate(workspace, { ...started, 'report-formats': 'otlp' });
    const spans = readSpans(await workspace.read('mcp-eval-report/traces.otlp.jsonl'));
    const call = spans.find(({ name }) => name === 'tools/call traceparent');
    expect(readReason(report)).toContain(`00-${call?.traceId}-${call?.spanId}-01`);

    expect(readReason((await runEmbeddedGate(workspace, started)).report)).toContain('none');
  });

  it('of a hosted run have the steps of failed iterations only', async () => {
    await using service = await openContractService();
    await using server = await startFlakyServer({ steady: ['passes'], broken: ['fails'] });
    await using workspace = await createWorkspace();
    const { tracePath } = await runHostedGate(
      service,
      { 'server-url': server.url, evals: 'a.evals.yaml', 'report-dir': workspace.path, 'report-formats': 'otlp' },
      { files: { 'a.evals.yaml': writeCallingCases(['steady', 'broken']) } },
    );
    expect(tracePath).toBe(join(workspace.path, 'traces.otlp.jsonl'));
    const spans = readSpans(await workspace.read('traces.otlp.jsonl'));
    const stepsOf = (name: string) => {
      const root = spans.find((span) => span.name === name);
      return spans.filter(({ parentSpanId, traceId }) => parentSpanId !== undefined && traceId === root?.traceId)
        .length;
    };
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toHaveLength(2);
    expect(stepsOf('Calls steady')).toBe(0);
    expect(stepsOf('Calls broken')).toBeGreaterThan(0);
  });

  it('are not kept unless requested', async () => {
    await using workspace = await createWorkspace(files);
    await runEmbeddedGate(workspace, {}, says);
    await expect(workspace.read('mcp-eval-report/traces.otlp.jsonl')).rejects.toThrow('ENOENT');
  });

  it('are described by the resource of the environment, and sent to an endpoint of their own as it stands', async () => {
    await using workspace = await createWorkspace(files);
    await using collector = await startHttpServer(json(200, {}));
    const variables = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.origin}/custom`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=evals%20team',
      OTEL_SERVICE_NAME: 'my-evals',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci,service.name=other',
    };
    await runEmbeddedGate(workspace, {}, sendingTo('http://127.0.0.1:9', variables));
    expect(collector.requests[0]).toMatchObject({ url: '/custom', headers: { 'x-team': 'evals team' } });
    const { attributes } = JSON.parse(collector.requests[0]?.body ?? '').resourceSpans[0].resource;
    expect(attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'my-evals' } },
        { key: 'deployment.environment.name', value: { stringValue: 'ci' } },
      ]),
    );
  });

  it('need headers that only the collector can read', async () => {
    await using workspace = await createWorkspace(files);
    const header = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-key-0123456789' };
    const run = (environment: Record<string, string>) =>
      runEmbeddedGate(workspace, {}, sendingTo('https://host', environment));
    await expect(run({ ...header, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel-collector:4318' })).rejects.toThrow(
      'OTEL_EXPORTER_OTLP_ENDPOINT: is plain http',
    );
    await expect(run({ OTEL_EXPORTER_OTLP_HEADERS: 'just-a-key' })).rejects.toThrow(
      'OTEL_EXPORTER_OTLP_HEADERS: entry 1 is not name=value with a percent-encoded value (bad-header)',
    );
  });
});
