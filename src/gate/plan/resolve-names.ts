import type { ConfigurationIssue } from '../../base/errors.ts';
import { createFindings, type Findings } from '../../base/findings.ts';
import type { PolicyFile, PolicyLayer } from '../../model/policy.ts';
import type { CaseResults } from '../../model/results.ts';
import { explainAmbiguity, findNamed, isAmbiguous, type NamedCase } from '../../suite/select.ts';
import { listSuiteLayers } from '../../verdict/merge-policies.ts';

/** The rules of a policy that name cases. */
type CaseRules = Pick<PolicyLayer, 'cases' | 'required' | 'quarantine'>;

/**
 * Replaces the names of cases in a policy by ids, so that later code compares no titles. The name of a case that runs with several models
 * stands for all of them. A name that fits two cases is an issue at its location; a name that fits no case stays as it is.
 */
export function resolveCaseNames<Layer extends CaseRules>(
  layer: Layer,
  cases: readonly NamedCase[],
  findings: Findings,
): Layer {
  const toIds = (name: string, source: string): string[] => {
    const found = findNamed(cases, name);
    if (isAmbiguous(found)) {
      const message = explainAmbiguity(name, found);
      findings.add({ ...placeIssue(source), code: 'ambiguous-case', message });
    }
    const ids = isAmbiguous(found) ? found.slice(0, 1) : found;
    return ids.length === 0 ? [name] : ids.map(({ id }) => id);
  };
  return {
    ...layer,
    cases: layer.cases.flatMap((rule) => toIds(rule.name, rule.source).map((name) => ({ ...rule, name }))),
    required: layer.required.flatMap((rule) => toIds(rule.name, rule.source).map((name) => ({ ...rule, name }))),
    quarantine: layer.quarantine.flatMap((entry) =>
      toIds(entry.case, entry.source).map((id) => ({ ...entry, case: id })),
    ),
  };
}

/** Checks the names in a policy file against cases that ran before, such as those of a report. */
export function findAmbiguousNames(
  policy: PolicyFile,
  suites: ReadonlyArray<{ id: string; name: string; cases: readonly ReportedCase[] }>,
): ConfigurationIssue[] {
  const findings = createFindings();
  for (const suite of suites) {
    for (const layer of listSuiteLayers(policy, suite))
      resolveCaseNames(layer, suite.cases.map(nameReported), findings);
  }
  return findings.issues;
}

/** Groups results by suite, one entry for all runs of a suite. */
export function groupReported(
  results: ReadonlyArray<{ suiteId: string; name: string; cases: readonly ReportedCase[] }>,
): Array<{ id: string; name: string; cases: ReportedCase[] }> {
  return [...Map.groupBy(results, ({ suiteId }) => suiteId)].map(([id, parts]) => ({
    id,
    name: parts[0]?.name ?? id,
    cases: parts.flatMap(({ cases }) => cases),
  }));
}

type ReportedCase = Pick<CaseResults, 'id' | 'title' | 'variantOf' | 'location'>;

/** Names a case of a report in every way that a policy can name it. */
export function nameReported({ id, title, variantOf = [], location }: ReportedCase): NamedCase {
  return { id, title, variantOf, location: location === null ? null : `${location.file}:${location.line}` };
}

/** Splits `file:line` into the fields of an issue; else takes `source` as the name of an input. */
export function placeIssue(source: string): Pick<ConfigurationIssue, 'file' | 'line' | 'input'> {
  const [, file, line] = /^(.+):(\d+)$/.exec(source) ?? [];
  return file === undefined ? { input: source } : { file, line: Number(line) };
}
