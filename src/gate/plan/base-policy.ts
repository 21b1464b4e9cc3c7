import { createFindings, type Findings } from '../../base/findings.ts';
import { appendAll } from '../../base/lists.ts';
import { formatCount } from '../../base/text.ts';
import {
  type PolicyFile,
  type PolicyLayer,
  type Protection,
  protections,
  mergeLayers,
  listLowered,
} from '../../model/policy.ts';
import type { ShardReport } from '../../model/report.ts';
import type { Suite } from '../../cases/suite.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { readPolicy } from '../../suite/read-policy.ts';
import { readSuite } from '../../suite/read.ts';
import { selectCases } from '../../suite/select.ts';
import { listSuiteLayers } from '../../verdict/merge-policies.ts';
import {
  type BaseSources,
  type BaseTree,
  createBaseTree,
  explainMissingBase,
  findBase,
  findForkPoint,
  listCommitFiles,
} from './base-tree.ts';
import type { CiJob } from './ci-job.ts';
import {
  adaptLayers,
  type ChangeNames,
  createBar,
  describeLowered,
  describeReused,
  findSameSuite,
  type KnownCases,
  listChanges,
  listRemovals,
  listReusedEntries,
  listTitles,
  listWeakenings,
  type SuiteBar,
  type Weakening,
} from './weakenings.ts';

/** The policy of the branch that a pull request goes into. */
export interface BasePolicy {
  names: ChangeNames;
  tree: BaseTree;
  /** Opens the files of the commit that the change began at; null if git does not know it or the base has not moved on since. */
  openFork: () => Promise<BaseTree | null>;
  /** Reads the policy file of the base; null if the base has none. */
  readFile: (path: string) => Promise<PolicyFile | null>;
  /** Compares the suites of the change with those of the base. */
  compareSuites: (suites: readonly Suite[], files: PolicyFiles) => Promise<BaseComparison>;
  /** Compares the cases that shards ran with those that the base requires and that the shards' selection takes. */
  compareShards: (
    ran: readonly KnownCases[],
    selection: ShardSelection,
    file: PolicyFile | null,
  ) => Promise<Pick<BaseComparison, 'weakenings' | 'outdated'>>;
}

type ShardSelection = NonNullable<ShardReport['selection']>;

/** The policy file of the base and of the change, and the patterns of evals files. */
interface PolicyFiles {
  patterns: readonly string[];
  path: string | null;
  before: PolicyFile | null;
  after: PolicyFile | null;
}

interface BaseComparison {
  /** The requirements of the base by the ids of the suites; new suites are not in it. */
  layers: Map<string, BaseLayers>;
  weakenings: Weakening[];
  /** The differences that the change did not make: it began before the base had these requirements. */
  outdated: Weakening[];
}

/** The requirements of the base for a suite of the change, and the suite in the base. */
export interface BaseLayers {
  fileLayers: PolicyLayer[];
  ownLayer: PolicyLayer;
  suite: Suite;
}

/** The file name of inline tests; they are part of the workflow. */
const inlineTests = 'tests';

/**
 * Opens the policy of the base branch from git or GitHub. Returns null and adds a remark if this is no pull or merge request; returns null
 * and adds an issue if the base was not found. The notes are the differences between base and head, and the remarks say why the gate uses the
 * policy that is checked out.
 */
export async function openBasePolicy(sources: BaseSources, findings: Findings): Promise<BasePolicy | null> {
  const { notes } = findings;
  const { ci, cwd } = sources;
  const { base } = ci;
  if (base === null) {
    findings.remark(
      '`policy-ref: base`: this is no pull or merge request, so the policy is the one that is checked out.',
    );
    return null;
  }
  const found = await findBase(base, sources);
  if ('problem' in found) {
    findings.add({ input: 'policy-ref', code: 'base-not-fetched', message: explainMissingBase(base, ci, found) });
    return null;
  }
  const names = { base: base.branch ?? base.revisions[0]?.slice(0, 12) ?? 'base', noun: base.noun };
  const tree = createBaseTree(found.files, names.base, cwd);
  const openFork = async () => {
    const fork = found.commit === null ? null : await findFork(found.commit, ci, cwd);
    return fork === null ? null : createBaseTree(await listCommitFiles(fork, cwd), names.base, cwd);
  };
  return {
    names,
    tree,
    openFork,
    readFile: async (path) => {
      const file = await tree.read(path, findings);
      if (file.kind !== 'file') {
        if (file.kind === 'missing') {
          notes.push(`${names.base} has no ${path} yet, so that the policy file of this change counts.`);
        }
        return null;
      }
      const reading = readPolicy(file.text, { file: `${names.base}:${path}` });
      // Without these issues, an invalid base would be a way around its policy.
      findings.addAll(reading.findings);
      return reading.policy;
    },
    compareSuites: async (suites, files) => {
      const readBars = createReader({ paths: listPaths(suites), patterns: files.patterns, names });
      const before = await readBars(tree, files.before, findings);
      const after = createBar(suites, files.after);
      appendAll(notes, listChanges(before, after, names));
      const all = listWeakenings(before, after, names);
      const hasReused = before.some((was) => listReusedIn(was, after).length > 0);
      const fork = all.length === 0 && !hasReused ? null : await readFork(openFork, { readBars, path: files.path });
      const known = new Set(
        fork === null
          ? []
          : [...listWeakenings(before, fork, names), ...before.flatMap((was) => listReusedIn(was, fork))].map(
              ({ key }) => key,
            ),
      );
      return {
        layers: chooseLayers(after, before, { names, notes, known }),
        weakenings: all.filter(({ key }) => !known.has(key)),
        outdated: all.filter(({ key }) => known.has(key)),
      };
    },
    compareShards: async (ran, selection, file) => {
      const paths = ran.map(({ suite }) => suite.location.file);
      const readBars = createReader({ paths, patterns: selection.evals, names });
      const before = selectRequired(await readBars(tree, file, findings), selection);
      const all = listRemovals(before, ran, names);
      const fork = all.length === 0 ? null : await readFork(openFork, { readBars, path: file?.file ?? null });
      const known = new Set(fork === null ? [] : listRemovals(before, fork, names).map(({ key }) => key));
      return {
        weakenings: all.filter(({ key }) => !known.has(key)),
        outdated: all.filter(({ key }) => known.has(key)),
      };
    },
  };
}

function listPaths(suites: readonly Suite[]): string[] {
  return suites.map(({ location }) => location.file).filter((file) => file !== inlineTests);
}

function listReusedIn(was: SuiteBar, bars: readonly SuiteBar[]) {
  const is = bars.find(({ suite }) => suite.id === was.suite.id);
  return is === undefined ? [] : listReusedEntries(was, is.suite);
}

/** Keeps the cases of the base that a selection takes: no shard had to run the others. */
function selectRequired(bars: readonly SuiteBar[], { cases, tags }: ShardSelection): SuiteBar[] {
  return bars.flatMap((bar) => {
    const { suite, policy, required } = bar;
    const [taken] = selectCases([suite], { cases, tags, runs: null }).suites;
    if (taken === undefined) return [];
    const isTaken = (name: string) => taken.cases.some(({ id }) => id === name);
    return [
      {
        ...bar,
        policy: { ...policy, cases: policy.cases.filter(({ name }) => isTaken(name)) },
        required: new Map([...required].filter(([id]) => isTaken(id))),
      },
    ];
  });
}

/** Finds the commit that the change began at; null if that is the base itself. */
async function findFork(base: string, ci: CiJob, cwd: string): Promise<string | null> {
  try {
    const fork = await findForkPoint(base, ci, cwd);
    return fork === base ? null : fork;
  } catch {
    // Git does not know it in a shallow checkout. Every difference then counts as made by the change.
    return null;
  }
}

/**
 * Reads the requirements at the commit that the change began at; null if that commit is not known. A requirement that only the base has, the
 * change did not remove.
 */
async function readFork(
  openFork: BasePolicy['openFork'],
  { readBars, path }: { readBars: BarReader; path: string | null },
): Promise<SuiteBar[] | null> {
  const tree = await openFork();
  if (tree === null) return null;
  const dropped = createFindings();
  // The findings of this commit are dropped: a file that cannot be read there explains no difference.
  const policy = path === null ? null : await tree.read(path, dropped);
  const file = policy?.kind === 'file' ? readPolicy(policy.text, { file: path ?? '' }).policy : null;
  return await readBars(tree, file, dropped);
}

type BarReader = (tree: BaseTree, file: PolicyFile | null, findings: Findings) => Promise<SuiteBar[]>;

/** The evals files of a commit that are read: those that the patterns match there, and those of the change that exist there, too. */
interface EvalsFiles {
  paths: readonly string[];
  patterns: readonly string[];
  names: ChangeNames;
}

function createReader(evals: EvalsFiles): BarReader {
  return async (tree, file, findings) => createBar(await readSuites(tree, evals, findings), file);
}

async function readSuites(
  tree: BaseTree,
  { paths, patterns, names: { base } }: EvalsFiles,
  findings: Findings,
): Promise<Suite[]> {
  const found = new Map<string, Suite>();
  for (const path of new Set([...paths, ...tree.list(patterns)])) {
    const file = await tree.read(path, findings);
    if (file.kind !== 'file') continue;
    const reading = readSuite(file.text, { file: `${base}:${path}` });
    const { suite } = reading;
    if (suite !== null && !found.has(suite.id)) found.set(suite.id, suite);
    const [first] = reading.findings;
    if (first === undefined) continue;
    const message = `${path} of ${base} is no valid evals file, so \`policy-ref: base\` cannot judge by it: ${first.message}. Fix it in ${base}, or use \`policy-ref: head\` for this change`;
    findings.add({ ...first, code: 'base-file-invalid', message });
  }
  return [...found.values()];
}

function chooseLayers(
  after: readonly SuiteBar[],
  before: readonly SuiteBar[],
  { names, notes, known }: { names: ChangeNames; notes: string[]; known: ReadonlySet<string> },
): BaseComparison['layers'] {
  const { base, noun } = names;
  const layers: BaseComparison['layers'] = new Map();
  for (const { suite, policy } of after) {
    const { file } = suite.location;
    const was = findSameSuite(before, { id: suite.id, file: `${base}:${file}` });
    if (was === null) {
      notes.push(`${base} has no ${file}, so that its own policy counts.`);
      continue;
    }
    const reused = listReusedEntries(was, suite).filter(({ key }) => !known.has(key));
    layers.set(suite.id, { ...adaptLayers(was, suite, reused), suite: was.suite });
    const isFinding = ({ later }: (typeof reused)[number]) => policy.quarantine.some((each) => each.case === later.id);
    appendAll(
      notes,
      reused.filter((each) => !isFinding(each)).map((each) => describeReused(each, names)),
    );
    if (isSameText(listRequirements(was.suite), listRequirements(suite))) continue;
    notes.push(`The policy in ${file} is changed by this ${noun}; that of ${base} counts.`);
  }
  return layers;
}

function listRequirements({ policy, cases }: Suite): unknown {
  return { policy, required: cases.filter(({ isRequired }) => isRequired).map(({ id }) => id) };
}

/** Says that a policy file differs; null if it does not. */
function describeFileChange(before: PolicyFile, after: PolicyFile | null, { base, noun }: ChangeNames): string | null {
  const strip = (policy: PolicyFile | null) => policy && { ...policy, file: '' };
  if (isSameText(strip(before), strip(after))) return null;
  return `${before.file.slice(base.length + 1)} is changed by this ${noun}; that of ${base} counts.`;
}

function isSameText(before: unknown, after: unknown): boolean {
  const [one, other] = [before, after].map((value) =>
    JSON.stringify(value, (key, part: unknown) => (key === 'source' ? undefined : part)),
  );
  return one === other;
}

/** The requirements that a change must not lower, and the findings on what it lowers. */
export interface ProtectedBase extends Pick<BasePolicy, 'names' | 'tree' | 'openFork'> {
  protects: (protection: Protection) => boolean;
  /** Adds differences that were found elsewhere. */
  add: (weakenings: readonly Weakening[], outdated: readonly Weakening[]) => void;
  /** Compares the suites of the change with those of the base, and returns the requirements of the base by suite id. */
  compareSuites: (
    suites: readonly Suite[],
    files: { patterns: readonly string[]; path: string | null },
  ) => Promise<Map<string, BaseLayers>>;
  /** Notes the cases that run only because the base selects them. */
  noteAdded: (cases: ReadonlyArray<{ title: string }>) => void;
  /** Compares the cases that shards ran with those that the base requires of their selection. */
  compareShards: (ran: readonly KnownCases[], selection: ShardSelection) => Promise<void>;
  /** Compares the requirements of the policy files for a suite without a known evals file. */
  compareStored: (suite: { id: string; name: string }) => void;
  /** Lists the findings as reasons of a verdict, each with the suite that it is about, if there is one. */
  listFindings: () => VerdictReason[];
}

/** Collects where a change lowers what the base requires. Only the base's policy decides which of these requirements are protected. */
export function createProtection(
  base: BasePolicy,
  { before, after, notes }: { before: PolicyFile | null; after: PolicyFile | null; notes: string[] },
): ProtectedBase {
  const { names } = base;
  const found: Weakening[] = [];
  const changed = before === null ? null : describeFileChange(before, after, names);
  if (changed !== null) notes.push(changed);
  const protects = (protection: Protection) => (before?.protect ?? protections).includes(protection);
  const add: ProtectedBase['add'] = (weakenings, outdated) => {
    for (const weakening of weakenings) {
      const { protection, includedIn } = weakening;
      if (includedIn !== undefined && protects(includedIn)) continue;
      if (protects(protection)) found.push(weakening);
      else notes.push(`${weakening.message} The policy of ${names.base} allows it.`);
    }
    for (const { message } of outdated) {
      notes.push(`This ${names.noun} is behind ${names.base}, which has changed since: ${message}`);
    }
  };
  return {
    ...base,
    protects,
    add,
    compareSuites: async (suites, files) => {
      const { layers, weakenings, outdated } = await base.compareSuites(suites, { ...files, before, after });
      add(weakenings, outdated);
      return layers;
    },
    noteAdded: (cases) => {
      if (cases.length === 0) return;
      const [count, them] = [formatCount(cases.length, 'case'), cases.length === 1 ? 'it' : 'them'];
      notes.push(
        `The selection of ${names.base} (\`cases\`, \`tags\`) also takes ${count} that this ${names.noun} leaves out, and the gate runs ${them}: ${listTitles(cases)}.`,
      );
    },
    compareShards: async (ran, selection) => {
      const { weakenings, outdated } = await base.compareShards(ran, selection, before);
      add(weakenings, outdated);
    },
    compareStored: (suite) => {
      const read = (file: PolicyFile | null) => mergeLayers(file === null ? [] : listSuiteLayers(file, suite));
      const inSuite = ` of the suite ${JSON.stringify(suite.name)}`;
      const lowered = before === null ? [] : listLowered(read(before), read(after));
      add(
        lowered.map((each) => describeLowered(each, { inSuite, suiteId: suite.id }, names)),
        [],
      );
    },
    listFindings: () =>
      found.map(({ code, message, remedy, suiteId, protection }) => {
        const allow = `or let the policy file of ${names.base} allow it, with a \`protect\` that leaves out \`${protection}\``;
        return { code, message: `${message} ${remedy}, ${allow}.`, ...(suiteId === null ? {} : { suiteId }) };
      }),
  };
}
