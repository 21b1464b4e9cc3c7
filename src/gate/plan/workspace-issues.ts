import type { ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import type { SourceLocation } from '../../cases/suite.ts';
import type { GateOptions } from '../options/schema.ts';
import type { PlannedBase } from './plan-base.ts';
import type { PlannedServer } from './plan-server.ts';
import type { PlannedService } from './plan-service.ts';
import type { PlannedSuite } from './plan-suites.ts';

const needsOwnProcess = 'every iteration starts a process of its own in a copy of the workspace';
const needsOwnProxy = 'every iteration starts a process of its own, whose requests get the answers recorded for it';

/** Finds what prevents one process for each iteration, and uses of `{{workspace}}` that have no value. */
export function findWorkspaceIssues(
  {
    suites,
    servers,
    base,
    service,
  }: {
    suites: readonly PlannedSuite[];
    servers: readonly PlannedServer[];
    base: Pick<PlannedBase, 'servers'> | null;
    service: PlannedService;
  },
  { isolation, tunnel }: Pick<GateOptions, 'isolation' | 'tunnel'>,
): ConfigurationIssue[] {
  const files = suites.filter((planned) => planned.kind === 'file');
  const unset = files.filter(({ workspace }) => workspace === null);
  const issues = unset.flatMap(({ suite }) =>
    suite.cases.flatMap(({ placeholders }): ConfigurationIssue[] => {
      const message = '`{{workspace}}` has no value, because the suite has no workspace; add the key `workspace`';
      return placeholders?.workspace == null ? [] : [{ ...placeholders.workspace, code: 'unknown-name', message }];
    }),
  );
  const users = servers.filter(usesWorkspace);
  for (const { name } of users) {
    const input = name === null ? 'server-command' : 'mcp-config';
    for (const { suite } of unset) {
      const message = `uses \`{{workspace}}\`, and ${suite.location.file} has no workspace; add the key \`workspace\` there, or set the option \`workspace\``;
      issues.push({ input, code: 'needs-workspace', message });
    }
  }
  if (service.hosted !== null) return distinct(issues);
  const shared = { servers, base, isolation, tunnel };
  const withFiles = files.find(({ suite, workspace }) => suite.workspace !== null || workspace !== null);
  if (unset.length < files.length) {
    const at = withFiles?.suite.workspace?.location ?? { input: 'workspace' };
    appendAll(issues, findSharedProcesses({ key: 'workspace', at, why: needsOwnProcess }, shared));
  }
  const at = files.find(({ suite }) => suite.upstream !== null)?.suite.upstream?.location;
  if (at !== undefined) {
    appendAll(issues, findSharedProcesses({ key: 'upstream', at, why: needsOwnProxy }, shared));
    appendAll(issues, findContainers(at, servers));
  }
  return distinct(issues);
}

/** Finds what has several iterations share a process. */
function findSharedProcesses(
  { key, at, why }: { key: 'workspace' | 'upstream'; at: Partial<SourceLocation> | { input: string }; why: string },
  {
    servers,
    base,
    isolation,
    tunnel,
  }: {
    servers: readonly PlannedServer[];
    base: Pick<PlannedBase, 'servers'> | null;
  } & Pick<GateOptions, 'isolation' | 'tunnel'>,
): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  if (isolation === 'run') {
    const message = `${why}, and \`isolation\` is \`run\`; leave it at \`iteration\`, or remove \`${key}\``;
    issues.push({ ...at, code: `${key}-and-isolation`, message });
  }
  for (const each of [...servers, ...(base?.servers ?? [])]) {
    const { name, url, inProcess } = each;
    if (inProcess !== undefined) {
      const message = `${why}, and the server is in this process, which has one directory; start it with \`serverCommand\`, or remove \`${key}\``;
      issues.push({ ...at, code: `${key}-and-server`, message });
    }
    if (url === null) continue;
    const server = !servers.includes(each)
      ? 'the server of the base'
      : name === null
        ? 'the server at `server-url`'
        : `the server \`${name}\``;
    const message = `${why}, and all iterations share ${server} over HTTP; start it on stdio, or remove \`${key}\``;
    issues.push({ ...at, code: `${key}-and-url`, message });
  }
  if (tunnel === 'always') {
    const message = `${why}, which no tunnel reaches, and \`tunnel\` is \`always\`; leave it at \`auto\`, or remove \`${key}\``;
    issues.push({ ...at, code: `${key}-and-tunnel`, message });
  }
  return issues;
}

/** Finds servers in containers, which have a loopback interface and variables of their own. */
function findContainers(at: SourceLocation, servers: readonly PlannedServer[]): ConfigurationIssue[] {
  return servers.flatMap(({ name, command }) => {
    if (command === null || !/^(?:\S*\/)?(?:docker|podman)(?:\.exe)?\s/.test(command)) return [];
    const server = name === null ? 'the server' : `the server \`${name}\``;
    const message = `${server} runs in a container, which reaches no proxy of this machine; start it without one, or remove \`upstream\``;
    return [{ ...at, code: 'upstream-and-container', message }];
  });
}

/** Checks if a server is started with the path of the workspace. */
export function usesWorkspace({ command, environment }: PlannedServer): boolean {
  return [command ?? '', ...[...environment.values()].map((value) => value.reveal())].some((text) =>
    text.includes('{{workspace}}'),
  );
}

function distinct(issues: readonly ConfigurationIssue[]): ConfigurationIssue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}
