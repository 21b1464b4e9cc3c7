import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Disposer } from '../base/disposal.ts';
import { describeError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { type Clock, formatDuration, race } from '../base/time.ts';
import { createOutputTail, type OutputTail } from '../server/output-tail.ts';
import { signalGroup, waitForGroupEnd } from '../server/process-tree.ts';
import { spawnProgram } from '../server/spawn.ts';
import { BrowserGoneError, type DevTools, openDevTools } from './devtools.ts';
import { type FoundChromium, sandboxVariable } from './find-chromium.ts';

/** A proxy that does not exist: requests that a context does not exempt from it reach no network, not even DNS. */
export const noProxy = 'http://127.0.0.1:1';

/**
 * The time limit from the start of the process to its first answer, in milliseconds. A cold start on a busy machine takes several
 * seconds.
 */
const startTimeoutMs = 60_000;
const killTimeoutMs = 5000;

export interface Chromium extends AsyncDisposable {
  readonly devtools: DevTools;
  /** The id of the process, which leads its own group. */
  readonly pid: number;
  /** The directory of its profile. */
  readonly profile: string;
}

/**
 * Starts a headless Chromium with a new profile, and waits until it answers. Disposing it ends all of its processes and removes the
 * profile. It ends by itself when this process does, because its pipe breaks.
 *
 * @throws {BrowserGoneError} if it does not start; the message says what to do
 */
export async function startChromium(found: FoundChromium, clock: Clock): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-browser-'));
  await using stack = new Disposer();
  stack.defer(async () => await rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const child = spawnProgram(found.executable, listArguments(found, profile), {
    // The widget must not see the user's fonts and settings.
    env: { ...found.environment, HOME: profile, TMPDIR: profile },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: platform() !== 'win32',
  });
  const errors = createOutputTail();
  child.stderr?.on('data', (chunk: Buffer) => errors.append(chunk));
  child.stderr?.on('error', () => {});
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new BrowserGoneError(describeError(error))));
  });
  failed.catch(() => {});
  stack.defer(async () => await endGroup(child, clock));
  const devtools = openDevTools(...readPipes(child));
  // The pipes close some time after the process has ended. This refuses waiting commands before that.
  stack.defer(() => devtools.close());
  try {
    await race(Promise.race([devtools.send('Browser.getVersion'), failed]), {
      timeout: {
        clock,
        afterMs: startTimeoutMs,
        onTimeout: () => {
          throw new BrowserGoneError(`It did not answer within ${formatDuration(startTimeoutMs)}.`);
        },
      },
    });
  } catch (error) {
    throw new BrowserGoneError(describeFailedStart(found, error, errors), { cause: error });
  }
  const ending = stack.move();
  return {
    devtools,
    profile,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => await ending[Symbol.asyncDispose](),
  };
}

function listArguments({ isSandboxed }: FoundChromium, profile: string): string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    ...(isSandboxed ? [] : ['--no-sandbox']),
    // Neither the browser itself nor a page reaches the network; a page's context exempts the origins of its policy.
    `--proxy-server=${noProxy}`,
    '--proxy-bypass-list=<-loopback>',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--password-store=basic',
    '--use-mock-keychain',
    // Containers have little shared memory, and CI machines have no graphics card.
    '--disable-dev-shm-usage',
    '--disable-gpu',
    // A page in the background must also draw and run its timers.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-smooth-scrolling',
    '--hide-scrollbars',
    '--mute-audio',
    '--lang=en-US',
    'about:blank',
  ];
}

function readPipes({ stdio }: ChildProcess): [Writable, Readable] {
  const [, , , input, output] = stdio;
  if (!(input instanceof Writable) || !(output instanceof Readable)) throw new BrowserGoneError('It has no pipes.');
  return [input, output];
}

async function endGroup(child: ChildProcess, clock: Clock): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  signalGroup(pid, 'SIGKILL');
  await waitForGroupEnd(clock, pid, killTimeoutMs);
}

function describeFailedStart({ executable }: FoundChromium, error: unknown, errors: OutputTail): string {
  const lines = errors.readLines(20);
  if (lines.some((line) => /no-sandbox|No usable sandbox|setuid sandbox/i.test(line))) {
    return `${executable} cannot use its sandbox here. Run the job as an unprivileged user on a machine with user namespaces, or set ${sandboxVariable}=off, which runs the widgets of the server without that sandbox.`;
  }
  const last = lines.at(-1);
  const more = last === undefined ? '' : ` Its last line on stderr: ${last}`;
  return endSentence(`${executable} did not start: ${endSentence(describeError(error))}${more}`);
}
