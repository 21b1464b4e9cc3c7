import { resolve } from 'node:path';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { createFindings, type Findings } from '../../base/findings.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import type { Sourced } from '../../model/source.ts';
import {
  applyPolicyDefaults,
  emptyPolicyLayer,
  type GateRules,
  noGateRules,
  type PolicyFile,
  type PolicyLayer,
  type StoredRequirements,
  type SuiteRequirements,
  mergeLayers,
} from '../../model/policy.ts';
import { formatMinimumPassRate } from '../../model/rate.ts';
import type { Suite } from '../../cases/suite.ts';
import { suggestNearest } from '../../suite/findings.ts';
import type { PolicyInput } from '../../suite/policy-schema.ts';
import { readPolicy, readPolicyInput } from '../../suite/read-policy.ts';
import { listNames, nameCase } from '../../suite/select.ts';
import { listSuiteLayers } from '../../verdict/merge-policies.ts';
import type { GateOptions } from '../options/schema.ts';
import type { BaseLayers, ProtectedBase } from './base-policy.ts';
import type { CiJob } from './ci-job.ts';
import { placeIssue, resolveCaseNames } from './resolve-names.ts';

/** Every source of requirements except the checked-out evals files. */
export interface LoadedPolicy {
  file: PolicyFile | null;
  /** The rules of the file for the gate as a whole. */
  gate: GateRules;
  /** The requirements that the base protects; null if the policy of the head is used. */
  base: ProtectedBase | null;
  /** Reads the requirements in the evals files of the base branch; does nothing if the policy of the head is used. */
  readBaseSuites(suites: readonly Suite[]): Promise<void>;
  /** Returns the suite in the base after `readBaseSuites`; null if the base has none. */
  findBaseSuite(suite: Suite): Suite | null;
  planFileRequirements(suites: FileSuites, findings: Findings): SuiteRequirements;
  planStoredRequirements(stored: StoredCases, findings: Findings): StoredRequirements;
  /** The notes on the policy for readers of the verdict, one sentence each. */
  notes: string[];
  /** The notes on the policy that only the log shows. */
  remarks: string[];
}

/** Reads the policy file, from the base branch if the options ask for that. Its notes are not those of `findings`. */
export async function loadPolicy(
  options: GateOptions,
  context: { ci: CiJob; cwd: string; environment: Readonly<Record<string, string | undefined>> },
  findings: Findings,
): Promise<LoadedPolicy> {
  const said = createFindings(findings.issues);
  const { notes, remarks } = said;
  // Loaded lazily, like everything that compares with a base.
  const protecting = options.policyRef === 'base' ? await import('./base-policy.ts') : null;
  const sources = { ...context, token: options.githubToken };
  const base = (await protecting?.openBasePolicy(sources, said)) ?? null;
  const path = typeof options.policy === 'string' ? options.policy : null;
  const own = await readPolicyOption(options.policy, context.cwd, findings);
  // A policy that a program passes belongs to no branch, so no change can lower it.
  const inBase = base === null || path === null ? null : await base.readFile(path);
  const before = path === null ? own : inBase;
  const file = inBase ?? own;
  const protection =
    protecting === null || base === null ? null : protecting.createProtection(base, { before, after: own, notes });
  const layers = new Map<string, BaseLayers>();
  const inputs = readInputs(options);
  const fromFile = (suite: { id: string; name: string }) => (file === null ? [] : listSuiteLayers(file, suite));
  return {
    file,
    gate: file?.gate ?? noGateRules,
    notes,
    remarks,
    base: protection,
    readBaseSuites: async (suites) => {
      if (protection === null) return;
      const found = await protection.compareSuites(suites, { patterns: options.evals, path });
      for (const [id, layer] of found) layers.set(id, layer);
    },
    findBaseSuite: ({ id }) => layers.get(id)?.suite ?? null,
    planFileRequirements: (suites, found) => {
      const inBase = layers.get(suites.whole.id);
      const { fileLayers = fromFile(suites.whole), ownLayer = suites.whole.policy } = inBase ?? {};
      return planFileRequirements(suites, { inputs, fromFile: fileLayers, own: ownLayer }, found);
    },
    planStoredRequirements: (stored, found) => {
      const suite = { id: stored.suite, name: stored.suite };
      protection?.compareStored(suite);
      return planStoredRequirements(stored, [inputs, ...fromFile(suite)], found);
    },
  };
}

function readInputs({ minPassRate }: GateOptions): PolicyLayer {
  return { ...emptyPolicyLayer, minimumPassRate: withSource(minPassRate, 'min-pass-rate') };
}

function withSource<T>(value: T | null, source: string): Sourced<T> | null {
  return value === null ? null : { value, source };
}

interface FileSuites {
  /** The suite with only the selected cases. */
  suite: Suite;
  /** The suite with every case of the file. */
  whole: Suite;
}

interface StoredCases {
  suite: string;
  /** The ids or titles of the selected cases; empty for all. */
  cases: readonly string[];
}

/**
 * Plans the requirements on a suite from a file. Replaces names of cases by ids; a name that the file does not have is an issue. Leaves out
 * requirements on cases that are not selected.
 */
function planFileRequirements(
  { suite, whole }: FileSuites,
  { inputs, fromFile, own }: { inputs: PolicyLayer; fromFile: readonly PolicyLayer[]; own: PolicyLayer },
  findings: Findings,
): SuiteRequirements {
  const specific = [...fromFile.slice(0, -1), own];
  for (const layer of specific) findings.addAll(findUnknownNames(layer, whole));
  const named = whole.cases.map(nameCase);
  const layers = [inputs, ...fromFile, own].map((layer) => resolveCaseNames(layer, named, findings));
  const requirements = applyPolicyDefaults(mergeLayers(layers));
  findings.addAll(findUnreachable(requirements.minimumPassRate, requirements.confidence));
  return selectRequirements(requirements, { suite, whole });
}

/** Plans the requirements on a suite that a service keeps. At this point only its name is known. */
function planStoredRequirements(
  { cases }: StoredCases,
  layers: readonly PolicyLayer[],
  findings: Findings,
): StoredRequirements {
  const joined = mergeLayers(layers);
  if (joined.minimumPassRate !== null) findings.addAll(findUnreachable(joined.minimumPassRate, joined.confidence));
  // The gate cannot know whether cases that were not selected still exist.
  const isChosen = (name: string) => cases.length === 0 || cases.includes(name);
  return {
    ...applyPolicyDefaults(joined),
    minimumPassRate: joined.minimumPassRate,
    quarantine: joined.quarantine.filter((entry) => isChosen(entry.case)),
  };
}

function findUnknownNames({ cases, required, tags, models }: PolicyLayer, whole: Suite): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  const names = whole.cases.flatMap(listNames);
  for (const { name, source } of [...cases, ...required]) {
    if (names.includes(name)) continue;
    const message = `The policy has a requirement on the case ${JSON.stringify(name)}, which ${whole.location.file} does not have${suggestNearest(name, names)}`;
    issues.push({ ...placeIssue(source), code: 'unknown-case', message });
  }
  const known = [...new Set(whole.cases.flatMap((item) => item.tags))];
  for (const { name, source } of tags) {
    if (known.includes(name)) continue;
    const message = `The policy has a requirement on the tag ${JSON.stringify(name)}, which no case of ${whole.location.file} has${suggestNearest(name, known)}`;
    issues.push({ ...placeIssue(source), code: 'unknown-tag', message });
  }
  const used = [...new Set(whole.cases.flatMap(({ model }) => model ?? []))];
  for (const { name, source } of models) {
    if (used.includes(name)) continue;
    const message = `The policy requires something of the model ${JSON.stringify(name)}, which no case of ${whole.location.file} uses${suggestNearest(name, used)}`;
    issues.push({ ...placeIssue(source), code: 'unknown-model', message });
  }
  return issues;
}

/** Finds a minimum of 100 %, which no number of iterations shows: with a confidence, such a gate could never pass. */
function findUnreachable(minimum: Sourced<number>, confidence: Sourced<number> | null): ConfigurationIssue[] {
  if (confidence === null || minimum.value < 1) return [];
  const why = minimum.source === 'default' ? 'the default minimum' : `the minimum from ${minimum.source}`;
  const message = `No number of iterations shows a pass rate of 100% (${why}) with ${formatMinimumPassRate(confidence.value)} confidence; require less, such as 95%, or leave the confidence out`;
  return [{ ...placeIssue(confidence.source), code: 'confidence-in-100', message }];
}

function selectRequirements(
  requirements: SuiteRequirements,
  { suite, whole }: { suite: Suite; whole: Suite },
): SuiteRequirements {
  const isSelected = (name: string) => suite.cases.some(({ id }) => id === name);
  const isKnown = (name: string) => whole.cases.some(({ id }) => id === name);
  return {
    ...requirements,
    tags: requirements.tags.filter(({ name }) => suite.cases.some(({ tags }) => tags.includes(name))),
    cases: requirements.cases.filter(({ name }) => isSelected(name)),
    required: requirements.required.filter(({ name }) => isSelected(name)),
    quarantine: requirements.quarantine.filter((entry) => isSelected(entry.case) || !isKnown(entry.case)),
  };
}

/**
 * Reads the policy of the options: the file at a path, or the object that a program passes. Adds problems to `findings`, and then
 * returns null, as it does without a policy.
 */
export async function readPolicyOption(
  policy: string | PolicyInput | null,
  cwd: string,
  findings: Findings,
): Promise<PolicyFile | null> {
  if (policy === null) return null;
  if (typeof policy === 'string') return await readPolicyFile(policy, cwd, findings);
  const reading = readPolicyInput(policy);
  findings.addAll(reading.issues);
  return reading.policy;
}

async function readPolicyFile(path: string, cwd: string, findings: Findings): Promise<PolicyFile | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    findings.add({ file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage });
    return null;
  }
  let text: string;
  try {
    text = await readTextFile(resolve(cwd, path));
  } catch (error) {
    const message = `${JSON.stringify(path)} cannot be read: ${describeError(error)}`;
    findings.add({ input: 'policy', code: 'unreadable-policy', message });
    return null;
  }
  const reading = readPolicy(text, { file: path });
  findings.addAll(reading.findings);
  return reading.policy;
}
