import { stringify } from 'yaml';
import { isJsonEqual, isRecord } from '../base/json.ts';
import { defaultMatchOptions, type MatchOptions, type StoredCase } from '../cases/case.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import { shortenAssertion } from './assertion-schema.ts';
import { deriveSlug } from './case-ids.ts';

/** A stored suite in a form to write to a file. Each case includes all settings that apply to it. */
export interface SuiteToWrite {
  name: string;
  /** Null to use a slug of the name. */
  id: string | null;
  /** The model, as `provider/name`. */
  model: string | null;
  system: string | null;
  temperature: number | null;
  /** A fraction, 0..1. */
  minimumPassRate: number;
  cases: readonly CaseToWrite[];
}

/** A case with steps and checks in the API's shape. A call without `serverName` uses the server under test. */
export interface CaseToWrite extends Pick<StoredCase, 'expectedOutput' | 'isNegative' | 'scenario'> {
  id: string | null;
  title: string;
  runs: number;
  models: readonly string[];
  match: MatchOptions;
  checks: ReadonlyArray<Readonly<Record<string, unknown>>>;
  steps: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

/**
 * Writes a suite as an evals file, YAML. Settings that all cases share are written once, and defaults are left out. Only reading the file
 * again shows if the format can express the suite, since a service may store anything.
 */
export function writeSuite(suite: SuiteToWrite): string {
  const { name, id, model, system, temperature, minimumPassRate, cases } = suite;
  const runs = findShared(cases.map((item) => item.runs));
  const checks = findShared(cases.map((item) => item.checks)) ?? [];
  const match = findShared(cases.map((item) => item.match)) ?? defaultMatchOptions;
  const ids = writeIds(cases);
  const written = {
    suite: name,
    ...(id !== null && id !== deriveSlug(name, 'suite') && { id }),
    ...(model !== null && { model }),
    ...(system !== null && { system }),
    ...(temperature !== null && { temperature }),
    ...(runs !== null && runs !== 1 && { runs }),
    ...writeMatch(match, defaultMatchOptions),
    ...(checks.length > 0 && { checks: checks.map(writeAssertion) }),
    ...(minimumPassRate !== 1 && { policy: { minimumPassRate: formatMinimumPassRate(minimumPassRate) } }),
    cases: cases.map((item, index) => {
      const ownModels = item.models.length === 1 && item.models[0] === model ? [] : item.models;
      const [only, ...others] = ownModels;
      return {
        title: item.title,
        ...(ids[index] !== null && { id: ids[index] }),
        ...(item.isNegative === true && { negative: true }),
        ...(runs === null && item.runs !== 1 && { runs: item.runs }),
        ...(only !== undefined && (others.length === 0 ? { model: only } : { models: ownModels })),
        ...writeMatch(item.match, match),
        ...(checks.length === 0 && item.checks.length > 0 && { checks: item.checks.map(writeAssertion) }),
        ...(item.expectedOutput ? { expectedOutput: item.expectedOutput } : {}),
        ...(item.scenario ? { scenario: item.scenario } : {}),
        steps: withoutImplied(item.steps).map(writeStep),
      };
    }),
  };
  return writeYaml(written);
}

/** Writes a value as YAML 1.2 that parses to the same value. */
export function writeYaml(value: unknown): string {
  return stringify(value, { schema: 'core', lineWidth: 120, aliasDuplicateObjects: false });
}

/** Returns the value that all share; null if they differ. */
function findShared<Value>(values: readonly Value[]): Value | null {
  const [first] = values;
  return first !== undefined && values.every((value) => isJsonEqual(value, first)) ? first : null;
}

/** Lists the ids that do not follow from the titles; null for the others. */
function writeIds(cases: readonly CaseToWrite[]): Array<string | null> {
  const slugs = cases.map(({ title }) => deriveSlug(title, 'case'));
  const uses = Map.groupBy([...slugs, ...cases.flatMap(({ id }) => id ?? [])], (id) => id);
  return cases.map(({ id }, index) => {
    const slug = slugs[index] ?? '';
    // Two uses: the case's own id and its own slug.
    return id === slug && uses.get(slug)?.length === 2 ? null : id;
  });
}

function writeMatch(match: MatchOptions, inherited: MatchOptions): { match?: Partial<MatchOptions> } {
  const own = Object.entries(match).filter(([key, value]) => new Map(Object.entries(inherited)).get(key) !== value);
  return own.length === 0 ? {} : { match: Object.fromEntries(own) };
}

/** Removes the assertion that compiling adds to a case of a single call. */
function withoutImplied(steps: CaseToWrite['steps']): CaseToWrite['steps'] {
  const [call, implied, ...others] = steps;
  if (call?.['kind'] !== 'toolCall' || implied === undefined || others.length > 0) return steps;
  const id = call['id'] === 'called' ? 'called-2' : 'called';
  const meant = { id, kind: 'assert', assertion: { type: 'noToolErrors' } };
  return isJsonEqual(implied, meant) ? [call] : steps;
}

/** Writes a step of the API as a file does. `index` is its position in the case, which determines the default id. */
export function writeStep(step: Readonly<Record<string, unknown>>, index: number): unknown {
  const { id, kind, ...fields } = step;
  const named = id === `step-${index + 1}` ? {} : { id };
  if (kind === 'prompt') return { prompt: escapeTexts(fields['prompt']), ...named };
  if (kind === 'assert' && isRecord(fields['assertion'])) {
    return { assert: writeAssertion(fields['assertion']), ...named };
  }
  const { toolName, ...others } = fields;
  if (kind === 'interact') return { interact: toolName, ...named, ...escapeRecord(others) };
  if (kind !== 'toolCall') return step;
  const { serverName, arguments: args, ...rest } = others;
  return {
    toolCall: toolName,
    ...named,
    ...(serverName !== undefined && { server: serverName }),
    ...(isRecord(args) && Object.keys(args).length > 0 && { arguments: escapeTexts(args) }),
    ...rest,
  };
}

/** Writes an assertion of the API as a file does. */
export function writeAssertion(assertion: Readonly<Record<string, unknown>>): unknown {
  const { pattern, ...fields } = assertion;
  // Patterns stay unchanged, because `\\{{` already means a literal `{{` in them.
  return shortenAssertion({ ...escapeRecord(fields), ...(pattern !== undefined && { pattern }) });
}

function escapeRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, escapeTexts(value)]));
}

/** Escapes `{{`, which begins a placeholder in a file. */
function escapeTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('{{', '\\{{');
  if (Array.isArray(value)) return value.map(escapeTexts);
  return isRecord(value) ? escapeRecord(value) : value;
}
