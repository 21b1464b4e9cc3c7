import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * A stand-in for Docker: containers are child processes of this process, so that they outlive the client that started them, like those of a
 * daemon. The client is a program `docker` in a separate directory.
 */
export interface ContainerDaemon extends AsyncDisposable {
  /** The directory of the client, for PATH. */
  directory: string;
  /** Lists the running containers, in the order of their start. */
  list(): Array<{ id: string; clientPid: number }>;
  /** The number of started containers. */
  started(): number;
  /** Resolves once so many containers were started. */
  waitForStart(count: number): Promise<void>;
  /** From now on, no container notices the end of its input, like a server that ignores it. */
  holdInputs(): void;
  /** From now on, `docker rm` fails. */
  refuseRemoval(): void;
}

const requestSchema = z.union([
  z.object({ run: z.array(z.string()), pid: z.number() }),
  z.object({ rm: z.array(z.string()) }),
]);

/** @param entrypoint the first words of the command of every container of the image `image` */
export async function startContainerDaemon({
  entrypoint = [],
}: { entrypoint?: readonly string[] } = {}): Promise<ContainerDaemon> {
  const running = new Map<string, { process: ChildProcess; clientPid: number }>();
  const waiting = new Set<() => void>();
  let started = 0;
  let refusesRemoval = false;
  let holdsInputs = false;

  const runContainer = (words: readonly string[], clientPid: number, socket: Socket) => {
    const [program = '', ...args] = [...entrypoint, ...words];
    const id = randomBytes(32).toString('hex');
    const container = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    running.set(id, { process: container, clientPid });
    started += 1;
    for (const check of waiting) check();
    container.once('exit', () => running.delete(id));
    container.once('close', () => socket.end());
    container.stdin.on('error', () => {});
    socket.write(`${id}\n`);
    container.stdout.pipe(socket, { end: false });
    socket.on('data', (chunk: Buffer) => container.stdin.write(chunk));
    socket.on('end', () => void (holdsInputs || container.stdin.end()));
  };
  const removeContainers = async (ids: readonly string[]): Promise<string> => {
    if (refusesRemoval) return 'the daemon is on strike';
    const missing = ids.filter((id) => !running.has(id));
    await Promise.all(
      ids.map(async (id) => {
        const found = running.get(id);
        if (found === undefined || found.process.exitCode !== null) return;
        const exited = once(found.process, 'exit');
        found.process.kill('SIGKILL');
        await exited;
      }),
    );
    return missing.map((id) => `Error response from daemon: No such container: ${id}`).join('\n');
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    let head = '';
    const readHead = (chunk: Buffer) => {
      head += chunk.toString('utf8');
      const end = head.indexOf('\n');
      if (end === -1) return;
      socket.off('data', readHead);
      const request = requestSchema.parse(JSON.parse(head.slice(0, end)));
      if ('run' in request) runContainer(request.run, request.pid, socket);
      else void removeContainers(request.rm).then((problem) => socket.end(problem));
    };
    socket.on('data', readHead);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const directory = await mkdtemp(join(tmpdir(), 'container-daemon-'));
  await writeFile(join(directory, 'docker'), writeClient(port));
  await chmod(join(directory, 'docker'), 0o755);
  return {
    directory,
    list: () => [...running].map(([id, { clientPid }]) => ({ id, clientPid })),
    started: () => started,
    waitForStart: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (started >= count) resolve();
        };
        waiting.add(check);
        check();
      }),
    holdInputs: () => {
      holdsInputs = true;
    },
    refuseRemoval: () => {
      refusesRemoval = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const { process: container } of running.values()) container.kill('SIGKILL');
      await new Promise<void>((closed) => void server.close(() => closed()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Writes the client. Like Docker's, it refuses an existing file and unknown options. */
function writeClient(port: number): string {
  return `#!${process.execPath}
const { existsSync, writeFileSync } = require('node:fs');
const [command, ...rest] = process.argv.slice(2);
const fail = (text) => { process.stderr.write(text + '\\n'); process.exit(125); };
const socket = require('node:net').connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true });
socket.on('error', (error) => fail(error.message));
if (command === 'rm') {
  const ids = rest.filter((word) => !['--force', '--volumes'].includes(word));
  socket.write(JSON.stringify({ rm: ids }) + '\\n');
  let problem = '';
  socket.on('data', (chunk) => { problem += chunk; });
  socket.on('end', () => { process.stderr.write(problem); process.exit(problem === '' ? 0 : 1); });
} else if (command === 'run') {
  let file = null;
  while (rest[0]?.startsWith('-')) {
    const [option, joined] = rest.shift().split('=');
    if (option === '--cidfile') file = joined ?? rest.shift();
    else if (option === '--network') rest.shift();
    else if (!['--rm', '--interactive', '--init'].includes(option)) fail('unknown flag: ' + option);
  }
  const [image, ...words] = rest;
  if (image !== 'image') fail('Unable to find image ' + image);
  if (file !== null && existsSync(file)) fail('container ID file found, make sure the other container is not running or delete ' + file);
  socket.write(JSON.stringify({ run: words, pid: process.pid }) + '\\n');
  let head = '';
  socket.on('data', function readHead(chunk) {
    head += chunk.toString('latin1');
    const end = head.indexOf('\\n');
    if (end === -1) return;
    socket.off('data', readHead);
    if (file !== null) writeFileSync(file, head.slice(0, end));
    process.stdout.write(Buffer.from(head.slice(end + 1), 'latin1'));
    socket.pipe(process.stdout);
    process.stdin.pipe(socket);
    socket.on('end', () => process.exit(0));
    // A first process of a container has no handler of SIGTERM unless it installs one.
    process.on('SIGTERM', () => {});
  });
} else fail('unknown command: ' + command);
`;
}
