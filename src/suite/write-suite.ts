import { stringify } from 'yaml';
import { isJsonEqual, isRecord } from '../base/json.ts';
import { defaultMatchOptions, type MatchOptions, type StoredCase } from '../cases/case.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import { shortenAssertion } from './assertion-schema.ts';
import { deriveSlug } from './case-ids.ts';

/** What a service stores of a suite, for a file: every case with all that holds for it. */
export interface SuiteToWrite {
  name: string;
  /** Null for a slug of the name. */
  id: string | null;
  /** `provider/name`. */
  model: string | null;
  system: string | null;
  temperature: number | null;
  /** Fraction, 0..1. */
  minimumPassRate: number;
  cases: readonly CaseToWrite[];
}

/** Steps and checks are as the API has them; `serverName` of a call is absent for the server under test. */
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
 * Writes a suite as an evals file, YAML. What is the same in all cases is written once, and what a file need not say is left out.
 * Whether a file can say it at all, only reading it shows: the service may hold anything.
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

/** Writes a value as YAML 1.2, which reads as the same value. */
export function writeYaml(value: unknown): string {
  return stringify(value, { schema: 'core', lineWidth: 120, aliasDuplicateObjects: false });
}

/** What all of them have; null where they differ. */
function findShared<Value>(values: readonly Value[]): Value | null {
  const [first] = values;
  return first !== undefined && values.every((value) => isJsonEqual(value, first)) ? first : null;
}

/** The ids that the titles do not give; null for the others. */
function writeIds(cases: readonly CaseToWrite[]): Array<string | null> {
  const slugs = cases.map(({ title }) => deriveSlug(title, 'case'));
  const uses = Map.groupBy([...slugs, ...cases.flatMap(({ id }) => id ?? [])], (id) => id);
  return cases.map(({ id }, index) => {
    const slug = slugs[index] ?? '';
    // Its own id and its own slug.
    return id === slug && uses.get(slug)?.length === 2 ? null : id;
  });
}

function writeMatch(match: MatchOptions, inherited: MatchOptions): { match?: Partial<MatchOptions> } {
  const own = Object.entries(match).filter(([key, value]) => new Map(Object.entries(inherited)).get(key) !== value);
  return own.length === 0 ? {} : { match: Object.fromEntries(own) };
}

/** Without the assertion that compiling adds to a single call, which says what such a case means. */
function withoutImplied(steps: CaseToWrite['steps']): CaseToWrite['steps'] {
  const [call, implied, ...others] = steps;
  if (call?.['kind'] !== 'toolCall' || implied === undefined || others.length > 0) return steps;
  const id = call['id'] === 'called' ? 'called-2' : 'called';
  const meant = { id, kind: 'assert', assertion: { type: 'noToolErrors' } };
  return isJsonEqual(implied, meant) ? [call] : steps;
}

/** Writes a step of the API as a file does. `index` is its place in its case, which gives it an id. */
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
  // In a pattern, `\\{{` means the text already.
  return shortenAssertion({ ...escapeRecord(fields), ...(pattern !== undefined && { pattern }) });
}

function escapeRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, escapeTexts(value)]));
}

/** A file takes `{{` for the beginning of a name. */
function escapeTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('{{', '\\{{');
  if (Array.isArray(value)) return value.map(escapeTexts);
  return isRecord(value) ? escapeRecord(value) : value;
}
