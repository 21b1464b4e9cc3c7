import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/model/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { startEverythingServer, type EverythingServer } from '../support/servers/everything-server.ts';
import { openTestServer, stdioServerCommand } from '../support/servers/running-server.ts';

async function run(url: string, steps: Step[], protocol: 'legacy' | 'modern' = 'legacy'): Promise<CaseOutcome> {
  const target = { url, serverName: 'real', protocol };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 60_000 });
}

describe('runCase on server-everything over HTTP', () => {
  let server: EverythingServer;

  beforeAll(async () => {
    server = await startEverythingServer();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it('passes a sum that is right and fails one that is not', async () => {
    const sum = callStep('get-sum', { a: 2, b: 3 });
    const right = await run(server.url, [sum, assertStep({ type: 'toolResultContains', needle: '5' })]);
    expect(right).toMatchObject({ status: 'completed', result: 'passed', error: null });
    const wrong = await run(server.url, [sum, assertStep({ type: 'toolResultContains', needle: '6' })]);
    expect(wrong).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'toolResultContains: the result of get-sum is "The sum of 2 and 3 is 5." and does not contain "6".',
    });
  });

  it('reads structured content that keeps to its draft-07 schema', async () => {
    const outcome = await run(server.url, [
      callStep('get-structured-content', { location: 'Chicago' }),
      assertStep({ type: 'toolResultEquals', path: '/humidity', value: 82 }),
      assertStep({
        type: 'toolResultMatchesSchema',
        schema: { required: ['temperature'], properties: { temperature: { type: 'integer' } } },
      }),
    ]);
    expect(outcome.error).toBeNull();
  });

  it('judges images, embedded resources and links', async () => {
    const outcome = await run(server.url, [
      callStep('get-tiny-image'),
      assertStep({ type: 'toolResultContent', block: { type: 'image', mimeType: 'image/png', width: 20, height: 20 } }),
      callStep('get-resource-reference', { resourceType: 'Text', resourceId: 7 }),
      assertStep({
        type: 'toolResultContent',
        block: { type: 'resource', mimeType: 'text/plain', text: 'resource 7' },
      }),
      callStep('get-resource-links', { count: 3 }),
      assertStep({ type: 'toolResultContent', block: { type: 'resource_link', uri: '*/text/2' } }),
      assertStep({ type: 'toolResultContent', block: { type: 'resource_link', uri: 'demo://*' }, count: 3 }),
    ]);
    expect(outcome.error).toBeNull();
    const wrong = assertStep({ type: 'toolResultContent', block: { type: 'image', width: 21 } });
    expect((await run(server.url, [callStep('get-tiny-image'), wrong])).error).toMatch(
      /^toolResultContent: the result of get-tiny-image has no block like .*; its content is text .*, image \(image\/png, \d+ bytes, 20x20\)/,
    );
  });

  it('fails on arguments that the server refuses', async () => {
    const outcome = await run(server.url, [callStep('get-sum', { a: 'two', b: 3 })]);
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toMatch(/^get-sum answered with an error: "MCP error -32602: /);
    const expected = assertStep({ type: 'toolError', error: { contains: 'expected number' } });
    expect((await run(server.url, [callStep('get-sum', { a: 'two', b: 3 }), expected])).result).toBe('passed');
  });

  it('waits for a tool that reports progress', async () => {
    const steps = [
      callStep('trigger-long-running-operation', { duration: 0.2, steps: 2 }),
      assertStep({ type: 'toolResultMatches', pattern: '^Long running operation completed' }),
    ];
    expect((await run(server.url, steps)).error).toBeNull();
  });
});

describe('runCase on a stdio server behind the bridge', () => {
  it('gives every iteration a server-memory of its own', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'memory-'));
    const file = path.join(directory, 'memory.json');
    await using server = await openTestServer({
      command: 'node_modules/.bin/mcp-server-memory',
      env: { MEMORY_FILE_PATH: file },
    });
    const outcome = await run(server.url, [
      callStep('create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] }),
      callStep('read_graph'),
      assertStep({ type: 'toolResultContains', needle: 'likes tea' }),
    ]);
    expect(outcome.error).toBeNull();
    await rm(directory, { recursive: true });
  });

  it('reads a file through server-filesystem, and not one outside of its directory', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'files-'));
    await writeFile(path.join(directory, 'note.txt'), 'buy milk');
    await using server = await openTestServer({ command: `node_modules/.bin/mcp-server-filesystem ${directory}` });
    const outcome = await run(server.url, [
      callStep('read_text_file', { path: path.join(directory, 'note.txt') }),
      assertStep({ type: 'toolResultContains', needle: 'buy milk' }),
      callStep('read_text_file', { path: '/etc/hostname' }),
      assertStep({ type: 'toolResultIsError', isError: true }),
    ]);
    expect(outcome.error).toBeNull();
    await rm(directory, { recursive: true });
  });

  it('fails a call under which the server dies', async () => {
    await using server = await openTestServer({ command: stdioServerCommand });
    expect(await run(server.url, [callStep('crash', { code: 3 })])).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: expect.stringContaining('The server under test exited with code 3 before it answered.'),
    });
  });
});
