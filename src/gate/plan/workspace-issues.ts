import type { ConfigurationIssue } from '../../base/errors.ts';
import type { GateOptions } from '../options/schema.ts';
import type { PlannedBase } from './plan-base.ts';
import type { PlannedServer } from './plan-server.ts';
import type { PlannedService } from './plan-service.ts';
import type { PlannedSuite } from './plan-suites.ts';

const needsOwnProcess = 'every iteration starts a process of its own in a copy of the workspace';

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
  if (unset.length === files.length || service.hosted !== null) return distinct(issues);
  const at = files.find(({ suite }) => suite.workspace !== null)?.suite.workspace?.location ?? { input: 'workspace' };
  if (isolation === 'run') {
    const message = `${needsOwnProcess}, and \`isolation\` is \`run\`; leave it at \`iteration\`, or remove \`workspace\``;
    issues.push({ ...at, code: 'workspace-and-isolation', message });
  }
  for (const each of [...servers, ...(base?.servers ?? [])]) {
    const { name, url } = each;
    if (url === null) continue;
    const server = !servers.includes(each)
      ? 'the server of the base'
      : name === null
        ? 'the server at `server-url`'
        : `the server \`${name}\``;
    const message = `${needsOwnProcess}, and all iterations share ${server} over HTTP; start it on stdio, or remove \`workspace\``;
    issues.push({ ...at, code: 'workspace-and-url', message });
  }
  if (tunnel === 'always') {
    const message = `${needsOwnProcess}, which no tunnel reaches, and \`tunnel\` is \`always\`; leave it at \`auto\`, or remove \`workspace\``;
    issues.push({ ...at, code: 'workspace-and-tunnel', message });
  }
  return distinct(issues);
}

function usesWorkspace({ command, environment }: PlannedServer): boolean {
  return [command ?? '', ...[...environment.values()].map((value) => value.reveal())].some((text) =>
    text.includes('{{workspace}}'),
  );
}

function distinct(issues: readonly ConfigurationIssue[]): ConfigurationIssue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}
