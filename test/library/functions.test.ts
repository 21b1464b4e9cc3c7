import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it } from 'vitest';
import { CancelledError, ConfigurationError } from '../../src/base/errors.ts';
import {
  capture,
  compareBehaviour,
  compareSurfaces,
  explore,
  parseReport,
  renderReport,
} from '../../src/library/functions.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { expectAllEnded, expectNothingLeft } from '../support/process/active-resources.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Lists the problems that a function throws. */
async function listIssues(call: Promise<unknown>): Promise<string[]> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigurationError)) throw error;
  return error.issues.map(({ input, message }) => `${input} ${message}`);
}

describe('a function', () => {
  it.each([explore, compareSurfaces, compareBehaviour, capture])('refuses options that are none: %o', async (call) => {
    const refused = [expect.stringMatching(/^options (?:are missing|cannot be .*); give an object$/)];
    for (const given of [undefined, null, 5]) expect(await listIssues(call(given as never))).toEqual(refused);
  });
});

const aborted = AbortSignal.abort(new Error('enough'));

// Whether a function returns, refuses or is aborted.
expectNothingLeft();

describe('explore', () => {
  it('returns what it finds, and says how far it is', async () => {
    const phases = new Set<string>();
    const found = await explore({
      serverCommand: plainServerCommand,
      budget: 12,
      call: 'all',
      policy: {},
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(found.requests).toMatchObject({ budget: 12 });
    expect(found.sessions.length).toBeGreaterThan(0);
    expect([...phases]).toContain('Calling each tool');
  });

  it('refuses options that are wrong, and a signal that has aborted', async () => {
    const wrong = { serverComand: 'x', seed: 1.5, budget: 'many', timeLimit: 'soon', call: 'none', onProgress: 1 };
    expect(await listIssues(explore(wrong as object))).toEqual([
      'serverComand is no option; did you mean `serverCommand`?',
      'onProgress cannot be a number; give a function',
      'seed 1.5 is no whole number from 0 on',
      'budget cannot be a string; give a whole number from 1 on',
      'timeLimit "soon" is no duration; give a number of milliseconds, or a text such as 2m',
      'call "none" is neither `read-only` nor `all`',
    ]);
    expect(await listIssues(explore({}))).toEqual([expect.stringMatching(/^serverCommand /)]);
    await expect(explore({ serverCommand: plainServerCommand, signal: aborted })).rejects.toThrow(CancelledError);
  });

  it('throws a CancelledError if its signal aborts while it works', async () => {
    const controller = new AbortController();
    const exploring = expectAllEnded(() =>
      explore({
        serverCommand: plainServerCommand,
        signal: controller.signal,
        onProgress: () => controller.abort(),
      }),
    );
    await expect(exploring).rejects.toThrow(CancelledError);
  });
});

describe('compareSurfaces', () => {
  const createServer = (tool: string) => () => {
    const server = new McpServer({ name: 'shown', version: '1.0.0' });
    server.registerTool(tool, { description: 'Says hello to the world.' }, () => ({ content: [] }));
    return server;
  };

  it('writes a surface file only if it is asked to, and finds what changed since then', async () => {
    await using workspace = await createWorkspace({});
    const given = { cwd: workspace.path, file: 'surfaces/surface.json' };
    const first = await compareSurfaces({ ...given, server: createServer('hello'), update: true });
    expect(first.configurations.map(({ changes }) => changes)).toEqual([[]]);
    expect(JSON.parse(await readFile(join(workspace.path, given.file), 'utf8'))).toEqual(first.file);
    const second = await compareSurfaces({ ...given, server: createServer('greet') });
    expect(second.configurations.flatMap(({ changes }) => changes.map(({ id }) => id))).toContain('tool.hello.removed');
    expect(second.reasons).not.toEqual([]);
    const third = await compareSurfaces({ server: createServer('greet'), file: second.file });
    expect(third.configurations.flatMap(({ changes }) => changes)).toEqual([]);
  });

  it('refuses files that are none', async () => {
    const server = createServer('hello');
    const wrong = { file: 5, update: 'no', configuration: 5 };
    expect(await listIssues(compareSurfaces({ server, ...wrong } as never))).toEqual([
      'configuration cannot be a number; give the name of a configuration',
      'file cannot be a number; give the path of a surface file, or its value',
      'update cannot be a string; give true or false',
    ]);
    expect(await listIssues(compareSurfaces({ server, file: 'none.json' }))).toEqual([
      expect.stringContaining('does not exist'),
    ]);
    expect(await listIssues(compareSurfaces({ server, file: {} as never }))).toEqual([
      expect.stringContaining('is not a surface file'),
    ]);
  });
});

describe('compareBehaviour', () => {
  it('refuses a base that is none, and a server at a URL', async () => {
    expect(await listIssues(compareBehaviour({ serverCommand: plainServerCommand, base: 'main' as never }))).toEqual([
      'base cannot be a string; give the options that start the server of the base',
    ]);
    expect(await listIssues(compareBehaviour({ serverCommand: plainServerCommand } as never))).toEqual([
      'base is missing; give the options that start the server of the base',
    ]);
    const atUrl = { serverUrl: 'http://127.0.0.1:1/mcp', base: {} };
    expect(await listIssues(compareBehaviour(atUrl))).toEqual([expect.stringContaining('is at a URL')]);
  });

  it('finds no difference between a server and itself', async () => {
    const { differences, sessions } = await expectAllEnded(() =>
      compareBehaviour({ serverCommand: plainServerCommand, base: {}, budget: 10 }),
    );
    expect(differences).toEqual([]);
    expect(sessions.compared).toBeGreaterThan(0);
  });
});

describe('capture', () => {
  it('writes evals of what a client did', async () => {
    await using workspace = await createWorkspace({});
    const { text, cases, commentedOut } = await expectAllEnded(async () => {
      await using session = await capture({ serverCommand: plainServerCommand, cwd: workspace.path });
      const client = new Client({ name: 'person', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(session.url)));
      await client.callTool({ name: 'count', arguments: {} });
      await client.close();
      return await session.end();
    });
    expect(cases + commentedOut).toBe(1);
    expect(readSuite(text ?? '', { file: 'captured.evals.yaml' }).findings).toEqual([]);
  });

  it('refuses two servers, and throws a CancelledError after its signal', async () => {
    expect(await listIssues(capture({ serverCommand: 'a', serverUrl: 'http://127.0.0.1:1/mcp' }))).toEqual([
      expect.stringContaining('give either'),
    ]);
    expect(await listIssues(capture({ serverCommand: 'a', file: ' ' }))).toEqual([
      'file is blank; give the path of an evals file',
    ]);
    const controller = new AbortController();
    await using session = await capture({ serverCommand: plainServerCommand, signal: controller.signal });
    controller.abort();
    await expect(session.end()).rejects.toThrow(CancelledError);
  });
});

describe('renderReport', () => {
  it('writes every format, and names the nearest one', async () => {
    const report = createReport();
    expect(await renderReport(report, { as: 'comment', job: 'evals' })).toContain('evals');
    expect(JSON.parse(await renderReport(report, { as: 'ctrf' }))).toMatchObject({ reportFormat: 'CTRF' });
    expect(await parseReport(JSON.parse(await renderReport(report, { as: 'json' })))).toEqual(report);
    expect(await listIssues(renderReport(report, { as: 'junitt' as 'junit' }))).toEqual([
      expect.stringMatching(/^as "junitt" is no format; did you mean `junit`\?/),
    ]);
    const wrong = { as: 'terminal', colour: true } as const;
    expect(await listIssues(renderReport(5 as never, wrong))).toEqual([
      'report cannot be a number; give the report of a gate; `parseReport` reads one from JSON',
      'colour is no option; did you mean `color`?',
    ]);
    expect(await listIssues(renderReport({} as never, { as: 'html' }))).toEqual([expect.stringMatching(/^report /)]);
  });
});
