import { createFindings } from '../../base/findings.ts';
import { formatCount } from '../../base/text.ts';
import { formatDuration } from '../../base/time.ts';
import { anyProtocol } from '../../model/protocol.ts';
import { describeSource } from '../../model/source.ts';
import {
  type PolicyFile,
  type PolicyLayer,
  type Protection,
  type QuarantineEntry,
  mergeLayers,
  listLowered,
} from '../../model/policy.ts';
import type { Suite, SuiteCase } from '../../cases/suite.ts';
import type { ReasonCode } from '../../model/verdict.ts';
import { hashMovedDefinition } from '../../suite/definition-hash.ts';
import { findNamed, nameCase } from '../../suite/select.ts';
import { listSuiteLayers } from '../../verdict/merge-policies.ts';
import { type Lowered } from '../../model/rules/define-rule.ts';
import { resolveCaseNames } from './resolve-names.ts';

/** A requirement of the base that a change lowers or removes. */
export interface Weakening {
  protection: Protection;
  code: ReasonCode;
  /** Equal for the same difference in other commits. */
  key: string;
  /** One sentence that says what the change does and where. */
  message: string;
  /** How to undo the change, as an imperative without a full stop. */
  remedy: string;
  /** The suite's id in the change; null if the finding is about no suite of the change. */
  suiteId: string | null;
  /** Another protection that includes this finding in its own. It is listed by itself only if the base does not use that protection. */
  includedIn?: Protection;
}

/** The names of the base and the change in sentences. */
export interface ChangeNames {
  /** The branch of the base. */
  base: string;
  noun: 'pull request' | 'merge request';
}

/** Lists where the files of a change require less than the files of its base. */
export function listWeakenings(
  before: readonly SuiteBar[],
  after: readonly SuiteBar[],
  names: ChangeNames,
): Weakening[] {
  const lowered = before.flatMap((was) => {
    const is = after.find(({ suite }) => suite.id === was.suite.id);
    if (is === undefined) return [];
    return [
      ...listReusedQuarantine(was, is, names),
      ...listLostTags(was, is, names),
      ...listLostModels(was, is, names),
      ...listLimits(was.suite, is.suite, names),
      ...listLostRevisions(was.suite, is.suite, names),
      ...listLoweredPolicy(was, is, names),
    ];
  });
  return [...listRemovals(before, after, names), ...lowered];
}

/** Lists allowed changes that a reviewer should check, one sentence each. */
export function listChanges(before: readonly SuiteBar[], after: readonly SuiteBar[], names: ChangeNames): string[] {
  return before.flatMap((was) => {
    const is = after.find(({ suite }) => suite.id === was.suite.id);
    if (is === undefined) return [];
    const gone = was.suite.cases.filter(({ id }) => !was.required.has(id) && findCase(is.suite, id) === undefined);
    const other = [...was.required.keys()].flatMap((id) => {
      const [one, two] = [findCase(was.suite, id), findCase(is.suite, id)];
      if (one === undefined || two === undefined) return [];
      return hashMovedDefinition(one, was.suite) === hashMovedDefinition(two, is.suite) ? [] : [two];
    });
    const { file } = is.suite.location;
    return [
      ...(gone.length === 0
        ? []
        : [
            `${formatCount(gone.length, 'case')} of ${names.base} ${gone.length === 1 ? 'is' : 'are'} gone from ${file}: ${listTitles(gone)}.`,
          ]),
      ...other.map(
        ({ title, location }) =>
          `The required case ${JSON.stringify(title)} (${location.file}:${location.line}) is defined differently in ${names.base}. Review its steps and assertions.`,
      ),
    ];
  });
}

/** The part of a suite that shows its cases, and which of them are required. */
export interface KnownCases {
  suite: { id: string; location: { file: string }; cases: ReadonlyArray<Pick<SuiteCase, 'id' | 'title' | 'location'>> };
  required: { has: (id: string) => boolean };
}

/** Lists the suites and the required cases of the base that these suites do not have. */
export function listRemovals(
  before: readonly SuiteBar[],
  after: readonly KnownCases[],
  names: ChangeNames,
): Weakening[] {
  return before.flatMap((was) => {
    const file = stripBase(was.suite.location.file, names);
    const is = findSameSuite(after, { id: was.suite.id, file });
    if (is?.suite.id === was.suite.id) return listRemovedCases(was, is, names);
    const gone = is ?? { suite: { ...was.suite, location: { file }, cases: [] }, required: new Set<string>() };
    const cases = listRemovedCases(was, gone, names).map((each) => ({ ...each, includedIn: 'suites' as const }));
    return [describeRemoved(was.suite, is?.suite ?? null, names), ...cases];
  });
}

function describeRemoved(was: Suite, is: KnownCases['suite'] | null, { base, noun }: ChangeNames): Weakening {
  const now = is === null ? '' : `; ${is.location.file} has the id \`${is.id}\` now`;
  return {
    protection: 'suites',
    code: 'suite-removed',
    key: `suite ${was.id}`,
    message: `The suite ${JSON.stringify(was.name)} of ${base} (${was.location.file}) is gone in this ${noun}${now}.`,
    remedy: `Restore it with the id \`${was.id}\``,
    suiteId: is?.id ?? null,
  };
}

/** Lists the removed cases that the base requires, or for which it requires a pass rate. */
function listRemovedCases(was: SuiteBar, is: KnownCases, { base, noun }: ChangeNames): Weakening[] {
  const named = new Map([...was.policy.cases.map(({ name, source }) => [name, source] as const), ...was.required]);
  return [...named].flatMap(([id, source]): Weakening[] => {
    const earlier = findCase(was.suite, id);
    // A name without a case is a mistake in the base.
    if (earlier === undefined) return [];
    const title = JSON.stringify(earlier.title);
    const shared = { protection: 'requiredCases', code: 'required-case-removed', suiteId: is.suite.id } as const;
    if (!is.suite.cases.some((item) => item.id === id)) {
      const heir = is.suite.cases.find((item) => item.title === earlier.title);
      const now =
        heir === undefined ? '' : `; ${heir.location.file}:${heir.location.line} has the id \`${heir.id}\` now`;
      const message = `The case ${title}, which ${base} requires (${source}), is gone from ${is.suite.location.file}${now}.`;
      return [{ ...shared, key: `gone ${is.suite.id} ${id}`, message, remedy: `Restore it with the id \`${id}\`` }];
    }
    if (!was.required.has(id) || is.required.has(id)) return [];
    const message = `The case ${title}, which ${base} requires (${source}), is not required in this ${noun}.`;
    return [{ ...shared, key: `optional ${is.suite.id} ${id}`, message, remedy: 'Keep it required' }];
  });
}

/** A case of the change that the base's quarantine names, and that the base defines differently or does not have. */
export interface ReusedEntry {
  entry: QuarantineEntry;
  earlier: SuiteCase | null;
  later: SuiteCase;
  /** Equal for the same case in other commits. */
  key: string;
}

/** Lists the entries of the base's quarantine that would set aside a case that the base has not put into quarantine. */
export function listReusedEntries({ suite: before, policy }: SuiteBar, suite: Suite): ReusedEntry[] {
  const named = suite.cases.map(nameCase);
  return policy.quarantine.flatMap((entry) => {
    const earlier = findCase(before, entry.case) ?? null;
    const hash = earlier === null ? null : hashMovedDefinition(earlier, before);
    return findNamed(named, entry.case).flatMap(({ id }): ReusedEntry[] => {
      const later = findCase(suite, id);
      const own = later === undefined ? null : hashMovedDefinition(later, suite);
      if (later === undefined || own === hash) return [];
      return [{ entry, earlier, later, key: `reused ${suite.id} ${id} ${own}` }];
    });
  });
}

/** Lists the reused entries that the change keeps: they would hide the other case in later gates, too. An entry under another id is new. */
function listReusedQuarantine(was: SuiteBar, is: SuiteBar, names: ChangeNames): Weakening[] {
  const isKept = ({ entry, later }: ReusedEntry) =>
    entry.case === later.id && is.policy.quarantine.some((own) => own.case === later.id);
  return listReusedEntries(was, is.suite)
    .filter(isKept)
    .map((reused) => ({
      protection: 'quarantine',
      code: 'quarantine-widened',
      key: reused.key,
      message: describeReused(reused, names),
      remedy: 'Remove the entry from the quarantine, restore the definition or give the case another id',
      suiteId: is.suite.id,
    }));
}

/** Explains why the quarantine of the base does not cover a case. */
export function describeReused({ entry, earlier, later }: ReusedEntry, { base, noun }: ChangeNames): string {
  const title = JSON.stringify(later.title);
  const location = `${later.location.file}:${later.location.line}`;
  if (earlier === null) {
    return `The quarantine of ${base} (${entry.source}) names a case that ${base} does not have, and does not cover the case ${title} (${location}) of this ${noun}. The case counts.`;
  }
  return `This ${noun} defines the case ${title} (${location}) differently from ${base}, whose quarantine (${entry.source}) is for the case as ${base} defines it. The case counts.`;
}

/** Lists cases that have lost a tag: such a case no longer counts for the requirements on the tag. */
function listLostTags(was: SuiteBar, is: SuiteBar, { base }: ChangeNames): Weakening[] {
  return was.policy.tags.flatMap(({ name: tag, source }) =>
    was.suite.cases.flatMap(({ id, title, tags }): Weakening[] => {
      const later = findCase(is.suite, id);
      if (!tags.includes(tag) || later === undefined || later.tags.includes(tag)) return [];
      const location = `${later.location.file}:${later.location.line}`;
      return [
        {
          protection: 'minima',
          code: 'requirement-lowered',
          key: `tag ${is.suite.id} ${id} ${tag}`,
          message: `The case ${JSON.stringify(title)} (${location}) has lost the tag ${JSON.stringify(tag)}, of which ${base} requires a pass rate (${source}).`,
          remedy: 'Restore the tag',
          suiteId: is.suite.id,
        },
      ];
    }),
  );
}

/** Lists models that no case uses any more: nothing checks the requirements on them. */
function listLostModels(was: SuiteBar, is: SuiteBar, { base, noun }: ChangeNames): Weakening[] {
  const uses = ({ suite }: SuiteBar, name: string) => suite.cases.some(({ model }) => model === name);
  return was.policy.models
    .filter(({ name }) => uses(was, name) && !uses(is, name))
    .map(({ name, source }) => ({
      protection: 'minima',
      code: 'requirement-lowered',
      key: `model ${is.suite.id} ${name}`,
      message: `No case of ${is.suite.location.file} uses the model ${JSON.stringify(name)} in this ${noun}, of which ${base} requires a pass rate (${source}).`,
      remedy: 'Restore the model',
      suiteId: is.suite.id,
    }));
}

/** Lists cases with more time or fewer iterations, which make a case easier to pass. */
function listLimits(was: Suite, is: Suite, { base }: ChangeNames): Weakening[] {
  const pairs = was.cases.flatMap((earlier) => {
    const later = findCase(is, earlier.id);
    return later === undefined ? [] : [{ earlier, later }];
  });
  const slower = pairs.filter(({ earlier, later }) => later.timeoutMs > earlier.timeoutMs);
  const known = pairs.filter(
    ({ earlier, later }) => later.isDeterministic === true && earlier.isDeterministic !== true,
  );
  const fewer = pairs.filter(
    ({ earlier, later }) =>
      later.isDeterministic !== true &&
      (later.runs < earlier.runs ||
        (later.maxRuns ?? later.runs) < (earlier.maxRuns ?? earlier.runs) ||
        // A range of runs makes the confidence apply to the cases alone, and no longer to tasks.
        (later.maxRuns !== undefined && earlier.maxRuns === undefined)),
  );
  const shared = { protection: 'minima', code: 'requirement-lowered', suiteId: is.id } as const;
  const describe = (what: string, found: typeof pairs, format: (item: SuiteCase) => string): Weakening[] => {
    const [first] = found;
    if (first === undefined) return [];
    const { earlier, later } = first;
    const { file, line } = (what === 'timeout' ? later.timeoutLocation : null) ?? later.location;
    const many = found.length === 1 ? '' : `; ${formatCount(found.length - 1, 'more case')} likewise`;
    const message = `The ${what} of the case ${JSON.stringify(later.title)} (${file}:${line}) is ${format(later)} instead of ${format(earlier)} in ${base}${many}.`;
    const values = found.map((pair) => `${pair.later.id} ${format(pair.earlier)} ${format(pair.later)}`);
    return [{ ...shared, key: `${what} ${is.id} ${values.join(', ')}`, message, remedy: 'Restore it' }];
  };
  return [
    ...describe('timeout', slower, ({ timeoutMs }) => formatDuration(timeoutMs)),
    ...describe('number of `runs`', fewer, ({ runs, maxRuns }) =>
      maxRuns === undefined ? String(runs) : `${runs} to ${maxRuns}`,
    ),
    ...describe('value of `deterministic`', known, ({ isDeterministic = false }) => String(isDeterministic)),
  ];
}

/** Lists revisions of MCP in which the cases no longer run, and so are not required to work. */
function listLostRevisions(was: Suite, is: Suite, { base }: ChangeNames): Weakening[] {
  const before = was.protocol ?? anyProtocol;
  const after = is.protocol ?? anyProtocol;
  const isLost = before.value === 'both' ? after.value !== 'both' : ![before.value, 'both'].includes(after.value);
  if (before.value === 'auto' || !isLost) return [];
  return [
    {
      protection: 'minima',
      code: 'requirement-lowered',
      key: `protocol ${is.id} ${before.value} ${after.value}`,
      message: `The cases of ${is.location.file} run in \`protocol: ${after.value}\` instead of \`protocol: ${before.value}\` in ${base} (${before.source}).`,
      remedy: 'Restore it',
      suiteId: is.id,
    },
  ];
}

function listLoweredPolicy(was: SuiteBar, is: SuiteBar, names: ChangeNames): Weakening[] {
  const isThere = (id: string) => findCase(is.suite, id) !== undefined;
  const isUsed = ({ name }: { name: string }) => is.suite.cases.some(({ model }) => model === name);
  const before = {
    ...was.policy,
    cases: was.policy.cases.filter(({ name }) => isThere(name)),
    models: was.policy.models.filter(isUsed),
  };
  const after = { ...is.policy, models: is.policy.models.filter(isUsed) };
  const inSuite = ` of the suite ${JSON.stringify(is.suite.name)}`;
  return listLowered(before, after).map((lowered) =>
    describeLowered(lowered, { inSuite, suiteId: is.suite.id }, names),
  );
}

/** Describes a requirement that a change lowers; `inSuite` follows its name. */
export function describeLowered(
  { kind, what, before, after, source }: Lowered,
  { inSuite, suiteId }: { inSuite: string; suiteId: string | null },
  { base, noun }: ChangeNames,
): Weakening {
  const isQuarantine = kind === 'quarantine';
  return {
    protection: kind,
    code: isQuarantine ? 'quarantine-widened' : 'requirement-lowered',
    key: `${what} ${suiteId} ${before} ${after}`,
    message: `This ${noun} changes ${what}${inSuite} from ${before} in ${base} to ${after} (${describeSource(source)}).`,
    remedy: isQuarantine ? 'Take that out' : 'Restore it',
    suiteId,
  };
}

/** Removes the base's prefix from a file: messages call a file of the base `main:evals/x.yaml`. */
function stripBase(file: string, { base }: ChangeNames): string {
  return file.startsWith(`${base}:`) ? file.slice(base.length + 1) : file;
}

function findCase({ cases }: Suite, id: string): SuiteCase | undefined {
  return cases.find((item) => item.id === id);
}

const maxTitles = 3;

/** Lists the titles of the first cases, for a sentence. */
export function listTitles(cases: ReadonlyArray<Pick<SuiteCase, 'title'>>): string {
  const shown = cases.slice(0, maxTitles).map(({ title }) => JSON.stringify(title));
  const hidden = cases.length - shown.length;
  return [...shown, ...(hidden > 0 ? [`${hidden} more`] : [])].join(', ');
}

/** The requirements on a suite in the files of one commit, without the inputs of the workflow. */
export interface SuiteBar {
  suite: Suite;
  /** The layers of the policy file, the strongest first; cases by their ids. */
  fileLayers: PolicyLayer[];
  /** The layer of its evals file; cases by their ids. */
  ownLayer: PolicyLayer;
  /** All layers merged. */
  policy: PolicyLayer;
  /** The location that makes each case required, by case id. */
  required: ReadonlyMap<string, string>;
}

/** Reads the requirements from the files of one commit. */
export function createBar(suites: readonly Suite[], file: PolicyFile | null): SuiteBar[] {
  return suites.map((suite) => {
    const named = suite.cases.map(nameCase);
    // The plan of the change reports its own ambiguous names; those of the base mean the first case.
    const resolve = (layer: PolicyLayer) => resolveCaseNames(layer, named, createFindings());
    const fileLayers = (file === null ? [] : listSuiteLayers(file, suite)).map(resolve);
    const ownLayer = resolve(suite.policy);
    const policy = mergeLayers([...fileLayers, ownLayer]);
    const flagged = suite.cases.filter(({ isRequired }) => isRequired);
    const required = new Map([
      ...policy.required.map(({ name, source }) => [name, source] as const),
      ...flagged.map(({ id, location }) => [id, `${location.file}:${location.line}`] as const),
    ]);
    return { suite, fileLayers, ownLayer, policy, required };
  });
}

/** Finds the same suite among others: by its id, else by its file, because the suite of a file may have another id now. */
export function findSameSuite<T extends Pick<KnownCases, 'suite'>>(
  bars: readonly T[],
  { id, file }: { id: string; file: string },
): T | null {
  return bars.find(({ suite }) => suite.id === id) ?? bars.find(({ suite }) => suite.location.file === file) ?? null;
}

/**
 * Adapts the layers of the base to the suite of the change. Leaves out what they name and the change does not have, since the comparison of
 * the two reports that. Also leaves out the quarantine of cases that the change has reused.
 */
export function adaptLayers(
  { suite: before, fileLayers, ownLayer, required }: SuiteBar,
  suite: Suite,
  reused: readonly ReusedEntry[],
) {
  const isGone = (id: string) =>
    before.cases.some((item) => item.id === id) && !suite.cases.some((item) => item.id === id);
  const knownTags = new Set(suite.cases.flatMap(({ tags }) => tags));
  const wasTag = (tag: string) => before.cases.some(({ tags }) => tags.includes(tag));
  const uses = ({ cases }: Suite, name: string) => cases.some(({ model }) => model === name);
  const adapt = (layer: PolicyLayer): PolicyLayer => ({
    ...layer,
    cases: layer.cases.filter(({ name }) => !isGone(name)),
    required: layer.required.filter(({ name }) => !isGone(name)),
    tags: layer.tags.filter(({ name }) => knownTags.has(name) || !wasTag(name)),
    models: layer.models.filter(({ name }) => uses(suite, name) || !uses(before, name)),
    quarantine: layer.quarantine.filter((entry) => !reused.some((each) => each.entry.case === entry.case)),
  });
  const own = adapt(ownLayer);
  const flagged = [...required].flatMap(([name, source]) =>
    isGone(name) ? [] : [{ name, value: true as const, source }],
  );
  return { fileLayers: fileLayers.map(adapt), ownLayer: { ...own, required: flagged } };
}
