import type { ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import { Secret } from '../../base/redaction.ts';
import { findNearest } from '../../suite/findings.ts';
import type { GateOptions } from '../options/schema.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** Reads the variables that `server-env` names; one that the job does not have is an issue. */
export function resolveEnvironment(
  variables: GateOptions['serverEnv'],
  jobEnvironment: Readonly<Record<string, string | undefined>>,
  issues: ConfigurationIssue[],
): Map<string, Secret> {
  const resolved = new Map<string, Secret>();
  for (const [name, value] of variables) {
    const found = value ?? jobEnvironment[name];
    if (found !== undefined) resolved.set(name, new Secret(found));
    else {
      const message = `${name} is to be passed through, but this job has no such variable; set it or write ${name}=value`;
      issues.push({ input: 'server-env', code: 'missing-variable', message });
    }
  }
  return resolved;
}

/**
 * Settles what `{{env.NAME}}` stands for in cases: the variables that `server-env` names, since a pull request may have written the cases. A
 * name that a case uses and that is none of them is an issue, and so is a `server-env` that neither a server nor a case gets.
 */
export function planVariables(
  { serverEnv, serverCommand, serverUrl }: Pick<GateOptions, 'serverEnv' | 'serverCommand' | 'serverUrl'>,
  {
    suites,
    environment,
  }: { suites: readonly PlannedSuite[]; environment: Readonly<Record<string, string | undefined>> },
  issues: ConfigurationIssue[],
): ReadonlyMap<string, Secret> {
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  const used = files.flatMap(({ cases }) => cases.flatMap(({ placeholders }) => placeholders?.variables ?? []));
  const unknown = used.filter(({ name }) => !serverEnv.has(name));
  const found = unknown.map(({ name, location }): ConfigurationIssue => {
    const nearest = findNearest(name, [...serverEnv.keys()]);
    const remedy =
      nearest === undefined
        ? `add \`${name}\` to pass the job's on, or \`${name}=value\``
        : `did you mean \`${nearest}\`?`;
    const message = `\`{{env.${name}}}\` has no value, because \`server-env\` does not name ${name}; ${remedy}`;
    return { ...location, code: 'unknown-name', message };
  });
  // The rows of a case, and the cases with one check of their suite, share its location.
  appendAll(issues, [...new Map(found.map((issue) => [JSON.stringify(issue), issue])).values()]);
  if (serverCommand === null && serverUrl !== null && serverEnv.size > 0 && used.length === 0) {
    const message = 'has no effect without `server-command`, because no case uses `{{env.NAME}}`; remove it';
    issues.push({ input: 'server-env', code: 'needs-server-command', message });
  }
  // What the job does not have is an issue of the server already.
  return resolveEnvironment(serverEnv, environment, []);
}
