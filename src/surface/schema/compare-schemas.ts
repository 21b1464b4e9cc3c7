import { isJsonEqual, isRecord } from '../../base/json.ts';
import { compareObjects } from './compare-objects.ts';
import {
  addChange,
  type Certainty,
  type CompareParts,
  type Comparing,
  type Effect,
  joinEffects,
  nameKind,
  noEffect,
  type SchemaChange,
  unknownEffect,
} from './effect.ts';
import { type Alternative, expandSchema, jsonTypes, listLabels } from './expand.ts';
import { generalKeywords, isSameText, openDocument } from './keywords.ts';
import { acceptsValue, compareScalarRules, isWhole } from './scalars.ts';
import { hasValue } from './value-index.ts';
import { createWork, spend, type Work } from './work.ts';

/**
 * Lists the changes between two JSON Schemas, each with its effect on the set of valid values. It is sound: if no change narrows, every
 * value that was valid still is; if none widens, no further value became valid. Undecidable effects are `maybe`.
 *
 * A property that an open object newly declares counts as `maybe` narrowed: values that callers sent under its name were not checked
 * before. So does a property that an open object no longer declares, since nothing says that it still has an effect.
 *
 * @throws {TooMuchWorkError} once `work` is used up
 */
export function compareSchemas(before: unknown, after: unknown, work: Work = createWork()): SchemaChange[] {
  const comparing: Comparing = { changes: [], seen: new Map(), depth: 0, isCertain: true };
  compareLocated(openDocument(before, work), openDocument(after, work), '', comparing);
  return comparing.changes;
}

/** Comparing the text of a whole schema takes more time than expanding one. */
const costOfText = 100;
const maxTexts = 100;

/** The most levels of a value that are compared one by one. */
const maxDepth = 100;

const compareLocated: CompareParts = (before, after, path, comparing) => {
  if (typeof before.schema === 'boolean' && before.schema === after.schema) return;
  if (comparing.seen.get(before.schema)?.has(after.schema) === true) return;
  const { seen, depth } = comparing;
  const within = { ...comparing, depth: depth + 1, seen: addPair(seen, before.schema, after.schema) };
  const [from, to] = depth > maxDepth ? [null, null] : [expandSchema(before), expandSchema(after)];
  if (from === null || to === null) {
    before.root.left -= costOfText;
    if (before.root.left > -maxTexts * costOfText && isSameText(before, after)) return;
    addChange(comparing, { path, kind: 'schemaChanged', ...unknownEffect, before: null, after: null });
    return;
  }
  compareTypes(from, to, path, comparing);
  for (const [type, own] of Map.groupBy(from, (each) => each.type)) {
    const others = to.filter((each) => each.type === type);
    if (others.length > 0) compareAlternatives(own, others, path, within);
  }
};

function addPair(seen: Comparing['seen'], before: unknown, after: unknown): Comparing['seen'] {
  if (!isRecord(before) && !isRecord(after)) return seen;
  return new Map([...seen, [before, new Set([...(seen.get(before) ?? []), after])]]);
}

function compareTypes(from: readonly Alternative[], to: readonly Alternative[], path: string, comparing: Comparing) {
  const [before = [], after = []] = [from, to].map((all) => all.map(({ type }) => type));
  const effect: Effect = {
    narrows: before.every((type) => after.includes(type)) ? 'no' : 'yes',
    widens: after.every((type) => before.includes(type)) ? 'no' : 'yes',
  };
  if (effect.narrows === 'no' && effect.widens === 'no') return;
  const kind = nameKind('type', effect);
  addChange(comparing, { path, kind, ...effect, before: printTypes(from), after: printTypes(to) });
}

function printTypes(alternatives: readonly Alternative[]): string {
  const types = new Set(
    alternatives.map((each) => (each.type === 'number' && isWholeOnly(each) ? 'integer' : each.type)),
  );
  return types.size >= jsonTypes.length ? 'any type' : [...types].join(' or ') || 'no value';
}

/** A list of integers counts as type integer, even if its type is number. */
function isWholeOnly(alternative: Alternative): boolean {
  const { values } = alternative;
  return isWhole(alternative) || (values !== null && values.every(Number.isInteger));
}

/** Compares alternatives of one type. */
function compareAlternatives(
  from: readonly Alternative[],
  to: readonly Alternative[],
  path: string,
  comparing: Comparing,
): void {
  const [before, after] = [from[0], to[0]];
  if (from.length === 1 && to.length === 1 && before !== undefined && after !== undefined) {
    compareOne(before, after, path, comparing);
    return;
  }
  const label = findLabel(from, to);
  if (label === null) {
    spend(before?.root.work ?? createWork(), from.length * to.length);
    const tried = from.map((own) => to.map((other) => tryOne(own, other, comparing)));
    const isKept = tried.every((row) => row.some(({ narrows }) => narrows === 'no'));
    const isOld = to.every((_, index) => tried.some((row) => row[index]?.widens === 'no'));
    const effect: Effect = { narrows: isKept ? 'no' : 'maybe', widens: isOld ? 'no' : 'maybe' };
    if (!isKept || !isOld)
      addChange(comparing, { path, kind: nameKind('alternatives', effect), ...effect, before: null, after: null });
    return;
  }
  const read = (alternative: Alternative) => listLabels(alternative).get(label);
  for (const own of from) {
    const other = to.find((each) => isJsonEqual(read(each), read(own)));
    if (other !== undefined) compareOne(own, other, path, comparing);
    else
      addChange(comparing, {
        path,
        kind: 'alternativesNarrowed',
        narrows: 'yes',
        widens: 'no',
        before: print(read(own)),
        after: null,
      });
  }
  for (const other of to) {
    if (from.some((each) => isJsonEqual(read(each), read(other)))) continue;
    addChange(comparing, {
      path,
      kind: 'alternativesWidened',
      narrows: 'no',
      widens: 'yes',
      before: null,
      after: print(read(other)),
    });
  }
}

/** Finds a property whose value distinguishes all alternatives of each side. */
function findLabel(from: readonly Alternative[], to: readonly Alternative[]): string | null {
  const distinguishes = (name: string, all: readonly Alternative[]) => {
    const labels = all.map(listLabels);
    const values = new Set(labels.map((each) => JSON.stringify(each.get(name))));
    return labels.every((each) => each.has(name)) && values.size === all.length;
  };
  const [first] = from;
  const names = first === undefined ? [] : [...listLabels(first).keys()];
  return names.find((name) => distinguishes(name, from) && distinguishes(name, to)) ?? null;
}

/** Finds the effect of replacing one alternative by another. */
function tryOne(before: Alternative, after: Alternative, comparing: Comparing): Effect {
  const trial: Comparing = { ...comparing, changes: [], isCertain: true };
  compareOne(before, after, '', trial);
  return joinEffects(trial.changes);
}

function compareOne(before: Alternative, after: Alternative, path: string, comparing: Comparing): void {
  if (before.values !== null || after.values !== null) {
    const effect = { narrows: findLost(before, after), widens: findLost(after, before) };
    if (effect.narrows === 'no' && effect.widens === 'no') return;
    const kind = nameKind('values', effect);
    addChange(comparing, { path, kind, ...effect, before: printValues(before), after: printValues(after) });
    return;
  }
  const hasOtherRules = compareOtherRules(before, after, path, comparing);
  const within = { ...comparing, isCertain: comparing.isCertain && !hasOtherRules };
  if (isWhole(before) !== isWhole(after)) {
    const effect: Effect = { ...noEffect, [isWhole(after) ? 'narrows' : 'widens']: 'yes' };
    const [textBefore = null, textAfter = null] = [before, after].map((each) => (isWhole(each) ? 'integer' : 'number'));
    addChange(within, { path, kind: nameKind('type', effect), ...effect, before: textBefore, after: textAfter });
  }
  for (const { what, ...change } of compareScalarRules(before, after)) {
    addChange(within, { path, kind: nameKind(what, change), ...change });
  }
  if (before.type === 'array') compareItems(before, after, path, within);
  if (before.type === 'object') compareObjects({ before, after, path, comparing: within }, compareLocated);
}

/** Decides if a value that `from` allows is refused by `to`, if at least one of them lists its values. */
function findLost(from: Alternative, to: Alternative): Certainty {
  if (from.values === null) {
    // If there are few integers, the list may have all of them.
    return isEndless(from) ? 'yes' : 'maybe';
  }
  spend(from.root.work, from.values.length);
  const own = from.values.filter((value) => acceptsValue(from, value) !== 'no');
  const answers = new Set(
    own.map((value): Certainty => {
      const isAccepted = acceptsValue(to, value);
      if (isAccepted === 'yes') return 'no';
      return isAccepted === 'no' && acceptsValue(from, value) === 'yes' ? 'yes' : 'maybe';
    }),
  );
  if (answers.has('yes')) return 'yes';
  if (!answers.has('maybe')) return 'no';
  // The same rules on both sides refuse the same values.
  const { values } = to;
  const isSubset = values === null || from.values.every((value) => hasValue(values, value));
  const hasSameRules =
    isJsonEqual(from.rules, to.rules) && from.isInteger === to.isInteger && !readsReferences(from, to);
  return isSubset && hasSameRules ? 'no' : 'maybe';
}

/** Checks if it certainly allows more values than a list could have. */
function isEndless({ type, rules }: Alternative): boolean {
  if (type !== 'number' && type !== 'string') return false;
  const isRoomy = ([keyword, value]: [string, unknown]) =>
    keyword === 'maxLength'
      ? value !== 0 && rules['minLength'] === undefined
      : /^(?:exclusiveM|m)inimum$|^minLength$/.test(keyword);
  return Object.entries(rules).every(isRoomy);
}

function readsReferences(from: Alternative, to: Alternative): boolean {
  return !isSameText(
    { schema: { allOf: [from.rules] }, root: from.root },
    { schema: { allOf: [to.rules] }, root: to.root },
  );
}

function printValues({ values, type }: Alternative): string {
  return values === null ? `any ${type}` : values.map(print).join(', ');
}

function print(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

/** Rules that are compared as a whole, each with the same keywords of the other side. */
const wholeRules = [
  ['not'],
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['propertyNames'],
  ['dependentRequired'],
  ['dependentSchemas'],
  ['dependencies'],
  ['patternProperties'],
];

/** Compares the rules that are not taken apart. Returns true if there are any, since they may cancel the effect of other changes. */
function compareOtherRules(before: Alternative, after: Alternative, path: string, comparing: Comparing): boolean {
  let hasAny = false;
  for (const keywords of wholeRules) {
    const [from, to] = [before, after].map(({ rules, root }) => {
      const written = keywords.filter((keyword) => Object.hasOwn(rules, keyword));
      const schema = Object.fromEntries(written.map((keyword) => [keyword, rules[keyword]]));
      return { schema, root, isWritten: written.length > 0 };
    });
    if (from === undefined || to === undefined || (!from.isWritten && !to.isWritten)) continue;
    hasAny = true;
    if (isSameText(from, to)) continue;
    // An added rule refuses values, unless it changes the scope of other rules.
    const isPlain = keywords.length === 1 && keywords[0] !== 'patternProperties';
    const effect: Effect = {
      narrows: isPlain && !to.isWritten ? 'no' : 'maybe',
      widens: isPlain && !from.isWritten ? 'no' : 'maybe',
    };
    const kind = keywords.some((keyword) => generalKeywords.has(keyword))
      ? 'conditionChanged'
      : `${keywords[0] ?? ''}Changed`;
    addChange(comparing, { path, kind, ...effect, before: null, after: null });
  }
  return hasAny;
}

function compareItems(before: Alternative, after: Alternative, path: string, comparing: Comparing): void {
  const [from, to] = [before, after].map(({ rules }) => {
    const prefix: unknown[] = Array.isArray(rules['prefixItems']) ? rules['prefixItems'] : [];
    return { prefix, rest: rules['items'] ?? true };
  });
  if (from === undefined || to === undefined) return;
  const compare = (index: number | null) => {
    const [own, other] = [from, to].map(({ prefix, rest }) =>
      index === null || index >= prefix.length ? rest : prefix[index],
    );
    const inner = index === null ? `${path}[]` : `${path}[${index}]`;
    compareLocated({ schema: own, root: before.root }, { schema: other, root: after.root }, inner, comparing);
  };
  const length = Math.max(from.prefix.length, to.prefix.length);
  for (let index = 0; index < length; index += 1) compare(index);
  compare(null);
}
