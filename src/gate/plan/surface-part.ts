import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError, describeError, GateError, NetworkError, readErrorCode } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage } from '../../base/files.ts';
import { endSentence } from '../../base/text.ts';
import { type Clock, formatDuration } from '../../base/time.ts';
import { describeUnreachable } from '../../mcp/faults.ts';
import type { Target } from '../../mcp/session.ts';
import type { Surface, SurfaceFile } from '../../model/surface.ts';
import type { SurfaceReport } from '../../model/surface-report.ts';
import { serverUnderTest } from '../../model/step-server.ts';
import { parseSurfaceFile } from '../../surface/file.ts';
import { readSurface } from '../../surface/read.ts';
import { type ExpectedSurfaces, reportSurfaces } from '../../surface/report.ts';

// All of the gate that deals with surfaces, loaded only where an option asks for it.

/** A server that runs, by the name of its configuration. */
export interface SurfaceTarget {
  configuration: string;
  target: Omit<Target, 'serverName'>;
}

/** What of the base surfaces are read of. */
interface SurfaceBase {
  /** Its servers, started; empty where they cannot be. */
  listSurfaceTargets(): Promise<readonly SurfaceTarget[]>;
  giveUp(reason: string): void;
}

/** For the lists of one server. */
const readTimeoutMs = 60_000;

/**
 * Reads the surfaces of servers that run, and compares them with what is expected. A server that does not list what it shows leaves the
 * surface unread.
 *
 * @throws the signal's reason once it aborts
 */
export async function compareTargets(
  targets: readonly SurfaceTarget[],
  expected: ExpectedSurfaces,
  context: { clock: Clock; signal: AbortSignal },
): Promise<SurfaceReport> {
  const found: SurfaceFile['configurations'] = {};
  for (const { configuration, target } of targets) {
    try {
      found[configuration] = await readTarget(target, { ...context, timeoutMs: readTimeoutMs });
    } catch (error) {
      context.signal.throwIfAborted();
      return { against: expected.against, unread: describeError(error), configurations: [] };
    }
  }
  return reportSurfaces(found, expected);
}

/**
 * Reads the surfaces of servers that run, and compares them with those of the base. A base that does not start, or does not list what it
 * shows, leaves the comparison out.
 *
 * @throws the signal's reason once it aborts
 */
export async function compareWithBase(
  targets: readonly SurfaceTarget[],
  base: SurfaceBase | null,
  context: { clock: Clock; signal: AbortSignal },
): Promise<SurfaceReport | undefined> {
  const known = (await base?.listSurfaceTargets()) ?? [];
  if (base === null || known.length === 0) return undefined;
  const configurations: SurfaceFile['configurations'] = {};
  for (const { configuration, target } of known) {
    // A server that options of the base describe has no name.
    const name = known.length === 1 && targets.length === 1 ? targets[0]?.configuration : configuration;
    try {
      configurations[name ?? configuration] = await readTarget(target, { ...context, timeoutMs: readTimeoutMs });
    } catch (error) {
      context.signal.throwIfAborted();
      base.giveUp(`Its server does not list what it shows: ${describeError(error)}`);
      return undefined;
    }
  }
  return await compareTargets(targets, { against: 'base', configurations, text: null }, context);
}

/**
 * Reads the surface of a server that runs.
 *
 * @throws {NetworkError} when it does not answer with its lists within `timeoutMs`
 * @throws the signal's reason once it aborts
 */
export async function readTarget(
  target: Omit<Target, 'serverName'>,
  { clock, signal, timeoutMs }: { clock: Clock; signal: AbortSignal; timeoutMs: number },
): Promise<Surface> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const named = { ...target, serverName: serverUnderTest };
    return (await readSurface(named, { clock, signal: AbortSignal.any([limit, signal]) })).surface;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GateError) throw error;
    const why = limit.aborted ? `it took longer than ${formatDuration(timeoutMs)}` : describeUnreachable(error);
    throw new NetworkError(endSentence(`The server did not list what it shows: ${why}`), {
      cause: error,
      hint: 'Run `mcp-eval-ci doctor` with the same server to see which step fails.',
    });
  }
}

/**
 * Reads the surface file at `path`, relative to `cwd`; null where there is none.
 *
 * @throws {ConfigurationError} where it is not one
 */
export async function readSurfaceFile(path: string, cwd: string): Promise<{ file: SurfaceFile; text: string } | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    throw new ConfigurationError([
      { file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage },
    ]);
  }
  let text: string;
  try {
    text = await readFile(resolve(cwd, path), 'utf8');
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    const message = `cannot be read: ${describeError(error)}`;
    throw new ConfigurationError([{ file: path, code: 'unreadable-surface-file', message }]);
  }
  return { file: parseSurfaceFile(text, path), text };
}
