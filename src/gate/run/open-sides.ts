import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { isWithin } from '../../base/files.ts';
import type { Logger } from '../../base/logger.ts';
import { isLoopback } from '../../http/url.ts';
import {
  copyDirectory,
  openSideDirectories,
  openSidesRoot,
  type SideDirectories,
} from '../../server/side-directories.ts';
import type { PlannedBase } from '../plan/plan-base.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { GatePlan } from '../plan/plan.ts';

/** The directories of the two sides of a comparison. */
export interface Sides extends AsyncDisposable {
  readonly change: SideDirectories;
  readonly base: SideDirectories;
  /** The directories and hosts, in words for people, in which one side may find what the other has written; empty if none are known. */
  readonly shared: readonly string[];
}

/**
 * Creates the directories of both sides before a program of either starts. If there is a sandbox, the base sees a copy of each directory
 * that it would share with the change.
 */
export async function openSides(
  { cwd, servers, base }: Pick<GatePlan, 'cwd' | 'servers'> & { base: PlannedBase },
  { environment, logger }: { environment: Readonly<Record<string, string | undefined>>; logger: Logger },
): Promise<Sides> {
  const own = listOwn({ cwd, servers, base });
  const root = openSidesRoot(own.both);
  try {
    const roots = { change: join(root.path, 'change'), base: join(root.path, 'base') };
    for (const path of Object.values(roots)) mkdirSync(path);
    const change = openSideDirectories(
      roots.change,
      { own: own.change, copied: [], protect: [roots.base], move: (path) => path },
      environment,
    );
    // Opens the sandbox only if it decides something: it protects what exists when it is created.
    const isSandboxed = own.both.length > 0 && (await hasSandbox(servers, { side: change, environment, logger }));
    const copied: Array<{ path: string; copy: string }> = [];
    for (const path of isSandboxed ? own.both : []) {
      const copy = join(roots.base, `work-${copied.length}`);
      try {
        await copyDirectory(path, copy, [root.path]);
        copied.push({ path, copy });
      } catch (error) {
        logger.warning(`The base works in ${path} itself, not in a copy: ${describeError(error)}.`);
      }
    }
    const move = (path: string) => moveIntoBase(path, base);
    const sideOfBase = openSideDirectories(
      roots.base,
      { own: own.base, copied, protect: [roots.change], move },
      environment,
    );
    const isCopied = (path: string) => copied.some((each) => isWithin(each.path, path));
    const opened = [...servers, ...base.servers].flatMap(({ command, sandbox }) =>
      command === null || sandbox === null || sandbox.mode === 'off' ? [] : sandbox.writable,
    );
    return {
      change,
      base: sideOfBase,
      shared: [
        ...listSharedHosts(servers, base.servers),
        ...own.both.filter((path) => !isCopied(path)),
        ...[...new Set(opened)].filter((path) => move(path) === path && !isCopied(path)),
      ],
      [Symbol.asyncDispose]: async () => {
        await change[Symbol.asyncDispose]();
        await sideOfBase[Symbol.asyncDispose]();
        root[Symbol.dispose]();
      },
    };
  } catch (error) {
    root[Symbol.dispose]();
    throw error;
  }
}

/** Lists the hosts on which both sides have a server, at least one of them at a URL: the gate gives such a server no directories of its own. */
function listSharedHosts(servers: readonly PlannedServer[], ofBase: readonly PlannedServer[]): string[] {
  const listHosts = (side: readonly PlannedServer[]) =>
    new Set(side.map(({ command, url }) => (command === null ? hostOf(url) : thisMachine)));
  const others = listHosts(ofBase);
  const shared = [...listHosts(servers)].filter((host) => others.has(host));
  const isAtUrl = [...servers, ...ofBase].some(({ command, url }) => command === null && hostOf(url) === thisMachine);
  return shared
    .filter((host) => host !== thisMachine || isAtUrl)
    .map((host) => (host === thisMachine ? host : `the host ${host}`));
}

const thisMachine = 'this machine';

function hostOf(url: string | null): string {
  const { hostname } = new URL(url ?? 'http://localhost');
  return isLoopback(hostname) ? thisMachine : hostname;
}

/** Lists the directories that each side works in, and those that both work in. Only the base works in its own checkout. */
function listOwn({ cwd, servers, base }: Parameters<typeof openSides>[0]): {
  change: string[];
  base: string[];
  both: string[];
} {
  const started = servers.filter(({ command }) => command !== null).map((server) => server.cwd);
  const ofBase = base.servers.filter(({ command }) => command !== null).map((server) => server.cwd);
  if (base.checkout !== null) {
    const { repository, directory } = base.checkout;
    return { change: widest([repository, cwd, ...started]), base: widest([directory, ...ofBase]), both: [] };
  }
  // If the sides have separate directories, neither writes to a directory above them.
  const isApart = started.every((own) => ofBase.every((other) => !isWithin(own, other) && !isWithin(other, own)));
  const isAround = ofBase.some((other) => isWithin(cwd, other));
  const change = widest(isApart && isAround ? started : [cwd, ...started]);
  const both = change.flatMap((own) =>
    ofBase.flatMap((other) => (isWithin(own, other) ? [own] : isWithin(other, own) ? [other] : [])),
  );
  return { change, base: widest(ofBase), both: widest(both) };
}

/** Translates a path of the change into the base's checkout. */
function moveIntoBase(path: string, { checkout }: PlannedBase): string {
  if (checkout === null || !isWithin(checkout.repository, path)) return path;
  return join(checkout.directory, path.slice(checkout.repository.length));
}

function widest(paths: readonly string[]): string[] {
  const each = [...new Set(paths)];
  return each.filter((path) => !each.some((other) => other !== path && isWithin(other, path)));
}

/** Checks if this machine can open the sandbox of the servers. If a required sandbox cannot be opened, starting the servers reports that. */
async function hasSandbox(
  servers: readonly PlannedServer[],
  {
    side,
    ...context
  }: { side: SideDirectories; environment: Readonly<Record<string, string | undefined>>; logger: Logger },
): Promise<boolean> {
  const server = servers.find(({ command, sandbox }) => command !== null && sandbox !== null);
  if (server?.sandbox == null) return false;
  const { cwd, sandbox } = server;
  const opened = await side.openSandbox(sandbox, { ...context, cwd }).catch(() => null);
  return opened?.sandbox != null;
}
