import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { listTexts } from '../../base/json.ts';
import type { LocatedOwnCheck } from '../../cases/suite.ts';
import { listNames } from '../../checks/assertion.ts';
import { type OwnCheck, readOwnFields } from '../../checks/own-check.ts';
import { createCheckContext } from '../../engine/judge-assertion.ts';
import { suggestNearest } from '../../suite/findings.ts';
import type { PlannedSuite } from './plan-suites.ts';

/** Finds the checks of one's own that suites use, and refuses unknown names and arguments that do not fit. Null if no suite can use any. */
export async function planChecks(
  suites: readonly PlannedSuite[],
  { checks = [] }: { checks?: readonly OwnCheck[] },
  findings: Findings,
): Promise<ReadonlyMap<string, OwnCheck> | null> {
  if (checks.length === 0) return null;
  findings.addAll(findNameIssues(checks));
  const known = new Map(checks.map((check) => [check.name, check]));
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  // The names of checks in modules are known when the modules are loaded.
  const uses = files.flatMap(({ ownChecks = [], checkModules }) =>
    ownChecks.filter(({ use }) => checkModules === undefined || known.has(use.name)),
  );
  for (const used of uses) findings.addAll(await findUseIssues(used, known));
  return known;
}

function findNameIssues(checks: readonly OwnCheck[]): ConfigurationIssue[] {
  const taken = new Set(listNames());
  return checks.flatMap(({ name }, index): ConfigurationIssue[] => {
    const isFirst = checks.findIndex((other) => other.name === name) === index;
    if (isFirst && !taken.has(name)) return [];
    const why = taken.has(name) ? 'the gate has a check of this name' : 'two checks have this name';
    return [
      { input: 'checks', code: 'check-name-taken', message: `has the check ${name}, and ${why}; choose another` },
    ];
  });
}

/** Finds an unknown name, a schema that is none, and arguments that do not fit. */
export async function findUseIssues(
  { use, location, locate }: LocatedOwnCheck,
  known: ReadonlyMap<string, OwnCheck>,
): Promise<ConfigurationIssue[]> {
  const check = known.get(use.name);
  if (check === undefined) {
    const message = `Unknown assertion \`${use.name}\`${suggestNearest(use.name, [...known.keys(), ...listNames()])}`;
    return [{ ...location, code: 'unknown-assertion', message }];
  }
  const { schemas } = createCheckContext();
  const problem = schemas.findProblem(check.schema);
  if (problem !== null) {
    return [
      { ...location, code: 'bad-check-schema', message: `The schema of the check \`${check.name}\`: ${problem}` },
    ];
  }
  const fields = readOwnFields(check, use);
  // The value of a placeholder is known when the case runs, and is checked then.
  if (listTexts(fields).some(({ text }) => text.includes('{{'))) return [];
  const fit = await schemas.fit(check.schema, fields, { checksFormats: true });
  if (fit.kind === 'valid') return [];
  const mismatches = fit.kind === 'invalid' ? fit.mismatches : [fit.reason];
  return mismatches.map((mismatch) => {
    const [, pointer = '', what = mismatch] = /^(\/\S*) (.*)$/s.exec(mismatch) ?? [];
    const subject = pointer === '' ? '' : `\`${pointer.slice(1)}\` `;
    return {
      ...(pointer === '' ? location : locate(pointer)),
      code: 'bad-check-argument',
      message: `\`${check.name}\`: ${subject}${what}`,
    };
  });
}
