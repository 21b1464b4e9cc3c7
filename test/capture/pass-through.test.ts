import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { listChildren } from '../../src/server/process-tree.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { listChildVariables } from '../support/process/child-environment.ts';
import { createWorkspace } from '../support/workspace.ts';

type Captured = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a session in a directory. The arguments follow `capture`. */
function startCapture(args: readonly string[], cwd: string): Captured {
  return spawn(process.execPath, [commandPath, 'capture', ...args], {
    cwd,
    env: listChildVariables(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

const out = ['--out', 'evals/session.evals.yaml', '--'];

const listFiles = (path: string) => readdirSync(join(path, 'evals'));

/** Finds the process that records a session, and the server. */
async function findParts({ pid = 0 }: Captured): Promise<{ recorder: number; server: number }> {
  const isRecorder = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--recorder=');
  await expect.poll(() => listChildren(pid).length).toBe(2);
  const [first = 0, second = 0] = listChildren(pid);
  return isRecorder(first) ? { recorder: first, server: second } : { recorder: second, server: first };
}

async function readAll(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
  return text;
}

async function waitForExit(child: Captured): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, signal: child.signalCode };
}

describe('capture passes a session through', () => {
  it('without a changed byte, in both directions, with a message of 64 MiB and a reader that starts late', async () => {
    await using workspace = await createWorkspace();
    const child = startCapture([...out, 'cat'], workspace.path);
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    const long = Buffer.from(`{"long":"${'x'.repeat(64 * 1024 * 1024)}"}\n`);
    let bytes = 0;
    const writing = (async () => {
      const chunks = Array.from({ length: 200 }, (_, index) => randomBytes((index * 7919) % 5000));
      for (const chunk of [...chunks, long, ...chunks]) {
        sent.update(chunk);
        bytes += chunk.length;
        if (!child.stdin.write(chunk)) await once(child.stdin, 'drain');
      }
      child.stdin.end();
    })();
    // Nothing is read until the pipes are full.
    await expect.poll(() => child.stdin.writableNeedDrain).toBe(true);
    let read = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      received.update(chunk);
      read += chunk.length;
    }
    await writing;
    expect(read).toBe(bytes);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    expect(await waitForExit(child)).toEqual({ code: 0, signal: null });
  });

  it('ends as the server does: with its code, or with its signal', async () => {
    await using workspace = await createWorkspace();
    const failed = startCapture([...out, 'sh', '-c', 'echo "last words"; exit 7'], workspace.path);
    expect(await readAll(failed.stdout)).toBe('last words\n');
    expect(await waitForExit(failed)).toEqual({ code: 7, signal: null });
    const stopped = startCapture([...out, 'sh', '-c', 'echo ready; exec sleep 600'], workspace.path);
    await once(stopped.stdout, 'data');
    stopped.kill('SIGTERM');
    expect(await waitForExit(stopped)).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('closes its stdout when the server does, and ends the stdin of the server when its own ends', async () => {
    await using workspace = await createWorkspace();
    const script = 'echo ready; exec 1>&-; cat >/dev/null; exit 3';
    const child = startCapture([...out, 'sh', '-c', script], workspace.path);
    // This ends while the process lives.
    expect(await readAll(child.stdout)).toBe('ready\n');
    expect(child.exitCode).toBeNull();
    child.stdin.end();
    expect(await waitForExit(child)).toEqual({ code: 3, signal: null });
  });

  it('goes on when the recorder is killed, and says so once', async () => {
    await using workspace = await createWorkspace();
    const child = startCapture([...out, 'cat'], workspace.path);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const { recorder } = await findParts(child);
    process.kill(recorder, 'SIGKILL');
    await expect.poll(() => stderr).not.toBe('');
    const lines: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      child.stdin.write(`{"count":${count}}\n`);
      const [answer] = (await once(child.stdout, 'data')) as [Buffer];
      lines.push(String(answer));
    }
    expect(lines.join('')).toBe(Array.from({ length: 20 }, (_, count) => `{"count":${count}}\n`).join(''));
    child.stdin.end();
    expect(await waitForExit(child)).toEqual({ code: 0, signal: null });
    expect(stderr).toBe(
      'mcp-eval-ci capture: the recorder has ended; the session goes on, and the rest of it is not recorded.\n',
    );
  });

  it('goes on when the journal cannot be written, and says so once', async () => {
    await using workspace = await createWorkspace({ evals: 'a file' });
    const child = startCapture([...out, 'cat'], workspace.path);
    const stderr = readAll(child.stderr);
    let said = '';
    child.stderr.on('data', (chunk: string) => (said += chunk));
    await expect.poll(() => said).toMatch(/journal/);
    child.stdin.end('{"a":1}\n{"b":2}\n');
    expect(await readAll(child.stdout)).toBe('{"a":1}\n{"b":2}\n');
    expect(await waitForExit(child)).toEqual({ code: 0, signal: null });
    expect((await stderr).match(/journal/g)).toHaveLength(1);
  });

  it('refuses a server that cannot be started, and arguments without a server or a file', async () => {
    await using workspace = await createWorkspace();
    const run = async (args: readonly string[]) => {
      const child = startCapture(args, workspace.path);
      const stderr = await readAll(child.stderr);
      return { stderr, ...(await waitForExit(child)) };
    };
    const missing = await run([...out, './no-such-program']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('./no-such-program cannot be started') });
    expect(await run(['--out', 'a.yaml'])).toMatchObject({ code: 2, stderr: expect.stringContaining('after `--`') });
    expect(await run(['--', 'cat'])).toMatchObject({ code: 2, stderr: expect.stringContaining('out: name the evals') });
    const directory = await run(['--out', '.', '--', 'cat']);
    expect(directory).toMatchObject({ code: 2, stderr: expect.stringContaining('out: . is a directory') });
    const write = await run(['--write', ...out, 'cat']);
    expect(write).toMatchObject({ code: 2, stderr: expect.stringContaining('write: writes the file of `--config`') });
    const split = await run(['--split', 'often', ...out, 'cat']);
    expect(split).toMatchObject({ code: 2, stderr: expect.stringContaining('"often" is no rule') });
  });
});

const request = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

/** A server that answers each line with the sum of two arguments, and lists no tools. */
const answering = `
let text = '';
process.stdin.on('data', (chunk) => {
  text += chunk;
  for (let end = text.indexOf('\\n'); end !== -1; end = text.indexOf('\\n')) {
    const { id } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } }) + '\\n');
  }
});`;

const readJournals = (directory: string) =>
  listFiles(directory)
    .map((name) => readFileSync(join(directory, 'evals', name), 'utf8'))
    .join('');

describe('the journal of a session', () => {
  it('is converted if the process that passes the session through is killed', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': answering });
    const child = startCapture([...out, 'node', 'server.mjs'], workspace.path);
    child.stdin.write(request(1, 'tools/call', { name: 'send_mail', arguments: { to: 'ada' } }));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await expect.poll(() => listFiles(workspace.path)).toEqual(['session.evals.yaml']);
    expect(await workspace.read('evals/session.evals.yaml')).toContain('toolCall: send_mail');
  });

  it('is converted by the next session if all processes are killed', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': answering });
    const child = startCapture([...out, 'node', 'server.mjs'], workspace.path);
    const { recorder } = await findParts(child);
    child.stdin.write(request(1, 'tools/call', { name: 'send_mail', arguments: { to: 'ada' } }));
    await once(child.stdout, 'data');
    await expect.poll(() => readJournals(workspace.path)).toContain('"text":"done"');
    process.kill(recorder, 'SIGKILL');
    child.kill('SIGKILL');
    await waitForExit(child);
    expect(listFiles(workspace.path)).toEqual([expect.stringMatching(/^session\.evals\.yaml\.\d+-\w+\.journal$/)]);
    const next = startCapture([...out, 'node', 'server.mjs'], workspace.path);
    next.stdin.end();
    await expect.poll(() => listFiles(workspace.path)).toEqual(['session.evals.yaml']);
    expect(await workspace.read('evals/session.evals.yaml')).toContain('toolCall: send_mail');
  });

  it('of several sessions that end at once is added to the same file, apart from what it has already', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': answering });
    const names = ['ada', 'bob', 'cleo', 'ada'];
    const sessions = names.map((to) => {
      const child = startCapture(['--append', ...out, 'node', 'server.mjs'], workspace.path);
      child.stdin.write(request(1, 'tools/call', { name: 'send_mail', arguments: { to } }));
      return child;
    });
    await Promise.all(sessions.map((child) => once(child.stdout, 'data')));
    for (const child of sessions) child.stdin.end();
    await expect.poll(() => listFiles(workspace.path)).toEqual(['session.evals.yaml']);
    const text = await workspace.read('evals/session.evals.yaml');
    expect(text.match(/to: \w+/g)?.toSorted()).toEqual(['to: ada', 'to: bob', 'to: cleo']);
  });
});
