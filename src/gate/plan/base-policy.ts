import type { ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import { type PolicyFile, type PolicyLayer, type Protection, protections } from '../../model/policy.ts';
import type { Suite } from '../../model/suite.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { readPolicy } from '../../suite/read-policy.ts';
import { readSuite } from '../../suite/read.ts';
import { mergeLayers, listSuiteLayers } from '../../verdict/merge-policies.ts';
import { listLowered } from '../../verdict/lowered.ts';
import {
  type BaseSources,
  type BaseTree,
  createBaseTree,
  explainMissingBase,
  findBase,
  listCommitFiles,
} from './base-tree.ts';
import { runGit } from './git-checkout.ts';
import {
  adaptLayers,
  type ChangeNames,
  createBar,
  describeLowered,
  findSameSuite,
  listChanges,
  listWeakenings,
  type SuiteBar,
  type Weakening,
} from './weakenings.ts';

/** The policy of the branch that a pull request goes into. */
export interface BasePolicy {
  names: ChangeNames;
  tree: BaseTree;
  /** The files of the commit that the change began at, where git knows it and the base has moved on since; null else. */
  openFork: () => Promise<BaseTree | null>;
  /** The policy file as the base has it; null where it has none. */
  readFile: (path: string) => Promise<PolicyFile | null>;
  /** Holds the suites of the change against those of the base. */
  compareSuites: (suites: readonly Suite[], files: PolicyFiles) => Promise<BaseComparison>;
}

/** The policy file on either side, and which evals files there are. */
interface PolicyFiles {
  patterns: readonly string[];
  path: string | null;
  before: PolicyFile | null;
  after: PolicyFile | null;
}

interface BaseComparison {
  /** By the ids of the suites, what the base requires of them; new suites are not in it. */
  layers: Map<string, { fileLayers: PolicyLayer[]; ownLayer: PolicyLayer }>;
  weakenings: Weakening[];
  /** The same that the change does not make: it began before the base had them. */
  outdated: Weakening[];
}

/** What inline tests are called; they are part of the workflow. */
const inlineTests = 'tests';

interface BaseFindings {
  /** Takes what differs between base and head. */
  notes: string[];
  /** Takes why the policy is the one that is checked out. */
  remarks: string[];
  issues: ConfigurationIssue[];
}

/**
 * Opens the policy of the base branch, which git or GitHub has to have. Null where nothing is asked to be merged, which is a remark,
 * and where the base could not be found, which is an issue.
 */
export async function openBasePolicy(
  sources: BaseSources,
  { notes, remarks, issues }: BaseFindings,
): Promise<BasePolicy | null> {
  const { ci, cwd } = sources;
  const { base } = ci;
  if (base === null) {
    remarks.push('`policy-ref: base`: this is no pull or merge request, so the policy is the one that is checked out.');
    return null;
  }
  const found = await findBase(base, sources);
  if ('problem' in found) {
    issues.push({ input: 'policy-ref', code: 'base-not-fetched', message: explainMissingBase(base, ci, found) });
    return null;
  }
  const names = { base: base.branch ?? base.revisions[0]?.slice(0, 12) ?? 'base', noun: base.noun };
  const tree = createBaseTree(found.files, names.base, cwd);
  const openFork = async () => {
    const fork = found.commit === null ? null : await findFork(found.commit, cwd);
    return fork === null ? null : createBaseTree(await listCommitFiles(fork, cwd), names.base, cwd);
  };
  return {
    names,
    tree,
    openFork,
    readFile: async (path) => {
      const file = await tree.read(path, issues);
      if (file.kind !== 'file') {
        if (file.kind === 'missing') {
          notes.push(`${names.base} has no ${path} yet, so that the policy file of this change counts.`);
        }
        return null;
      }
      const { policy, findings } = readPolicy(file.text, { file: `${names.base}:${path}` });
      // A base that is not valid would otherwise be a way around it.
      for (const finding of findings) issues.push(finding);
      return policy;
    },
    compareSuites: async (suites, files) => {
      const before = createBar(await readSuites(tree, { suites, files, names }, issues), files.before);
      const after = createBar(suites, files.after);
      appendAll(notes, listChanges(before, after, names));
      const all = listWeakenings(before, after, names);
      const known = all.length === 0 ? new Set() : await listForkKeys(before, { openFork, suites, files, names });
      return {
        layers: chooseLayers(suites, before, { names, notes }),
        weakenings: all.filter(({ key }) => !known.has(key)),
        outdated: all.filter(({ key }) => known.has(key)),
      };
    },
  };
}

/** The commit that the change began at, unless that is the base itself. */
async function findFork(base: string, cwd: string): Promise<string | null> {
  try {
    const fork = (await runGit(['merge-base', base, 'HEAD'], cwd)).trim();
    return fork === '' || fork === base ? null : fork;
  } catch {
    // Of a shallow checkout git does not know it. Everything that differs is then the change's own.
    return null;
  }
}

/** What the base requires more of than the commit that the change began at: none of it is taken away by the change. */
async function listForkKeys(
  before: readonly SuiteBar[],
  {
    openFork,
    suites,
    files,
    names,
  }: Pick<BasePolicy, 'openFork' | 'names'> & { suites: readonly Suite[]; files: PolicyFiles },
): Promise<Set<unknown>> {
  const tree = await openFork();
  if (tree === null) return new Set();
  // What cannot be read there explains nothing.
  const policy = files.path === null ? null : await tree.read(files.path, []);
  const file = policy?.kind === 'file' ? readPolicy(policy.text, { file: files.path ?? '' }).policy : null;
  const fork = createBar(await readSuites(tree, { suites, files, names }, []), file);
  return new Set(listWeakenings(before, fork, names).map(({ key }) => key));
}

/** Reads every evals file that the patterns match in the base, and those of the change that the base has, too. */
async function readSuites(
  tree: BaseTree,
  { suites, files, names: { base } }: { suites: readonly Suite[]; files: PolicyFiles; names: ChangeNames },
  issues: ConfigurationIssue[],
): Promise<Suite[]> {
  const own = suites.map(({ location }) => location.file).filter((file) => file !== inlineTests);
  const found = new Map<string, Suite>();
  for (const path of new Set([...own, ...tree.list(files.patterns)])) {
    const file = await tree.read(path, issues);
    if (file.kind !== 'file') continue;
    const { suite, findings } = readSuite(file.text, { file: `${base}:${path}` });
    if (suite !== null && !found.has(suite.id)) found.set(suite.id, suite);
    const [first] = findings;
    if (first === undefined) continue;
    const message = `${path} of ${base} is no valid evals file, so \`policy-ref: base\` cannot judge by it: ${first.message}. Fix it in ${base}, or use \`policy-ref: head\` for this change`;
    issues.push({ ...first, code: 'base-file-invalid', message });
  }
  return [...found.values()];
}

function chooseLayers(
  suites: readonly Suite[],
  before: readonly SuiteBar[],
  { names: { base, noun }, notes }: { names: ChangeNames; notes: string[] },
): BaseComparison['layers'] {
  const layers: BaseComparison['layers'] = new Map();
  for (const suite of suites) {
    const { file } = suite.location;
    const was = findSameSuite(before, { id: suite.id, file: `${base}:${file}` });
    if (was === null) {
      notes.push(`${base} has no ${file}, so that its own policy counts.`);
      continue;
    }
    layers.set(suite.id, adaptLayers(was, suite));
    if (isSameText(listDemands(was.suite), listDemands(suite))) continue;
    notes.push(`The policy in ${file} is changed by this ${noun}; that of ${base} counts.`);
  }
  return layers;
}

function listDemands({ policy, cases }: Suite): unknown {
  return { policy, required: cases.filter(({ isRequired }) => isRequired).map(({ id }) => id) };
}

/** Says that a policy file differs; null where it does not. */
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

/** What a change must not lower, and where it does. */
export interface ProtectedBase extends Pick<BasePolicy, 'names' | 'tree' | 'openFork'> {
  protects: (protection: Protection) => boolean;
  /** Takes a difference that was found elsewhere. */
  add: (weakenings: readonly Weakening[], outdated: readonly Weakening[]) => void;
  /** Compares the suites of the change with the base's, and gives what the base requires of each by its id. */
  compareSuites: (
    suites: readonly Suite[],
    files: { patterns: readonly string[]; path: string | null },
  ) => Promise<Map<string, { fileLayers: PolicyLayer[]; ownLayer: PolicyLayer }>>;
  /** Compares what the policy files say of a suite whose evals file is not known. */
  compareStored: (suite: { id: string; name: string }) => void;
  /** Gives what was found as reasons of a verdict, each with the suite of the files that it is about, where it is about one. */
  listFindings: () => VerdictReason[];
}

/** Collects where a change lowers what the base requires. The base alone says what of that it protects. */
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
      if (protects(weakening.protection)) found.push(weakening);
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
