import { isRecord, type JsonObject } from '../base/json.ts';
import { unescapePointerToken } from '../base/json-pointer.ts';
import type { LocatedOwnCheck, SourceLocation } from '../cases/suite.ts';
import { combinationTypes, listNames } from '../checks/assertion.ts';
import { policyFields } from '../checks/parts.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

/** Keys that make a mapping an assertion of the gate, whatever else it has. */
const gateKeys: ReadonlySet<string> = new Set([...listNames(), 'type', 'kind']);

/** A document in which each use of a check of one's own has the form that the schema of the file knows. */
interface NamedDocument {
  document: SourceDocument;
  ownChecks: LocatedOwnCheck[];
}

/**
 * Writes out the assertions that are no assertion of the gate as uses of a check of one's own. Nothing is known about these checks yet, so
 * that a misspelled name is one, too: the plan refuses it.
 */
export function nameOwnChecks(document: SourceDocument): NamedDocument {
  const ownChecks: LocatedOwnCheck[] = [];

  const rewrite = (written: unknown, path: DocumentPath): unknown => {
    if (typeof written === 'string') return gateKeys.has(written) ? written : own({ name: written }, written, path);
    if (!isRecord(written)) return written;
    const inner = ['not', 'assertion', 'assertions', ...combinationTypes].find((key) => Object.hasOwn(written, key));
    if (inner !== undefined && inner !== 'assertion' && inner !== 'assertions') return rewriteAt(written, inner, path);
    const { type } = written;
    if (inner !== undefined && typeof type === 'string' && gateKeys.has(type)) return rewriteAt(written, inner, path);
    if (typeof type === 'string' && !gateKeys.has(type)) {
      const { type: name, ...fields } = written;
      return own({ name: String(name), fields }, written, path);
    }
    const keys = Object.keys(written);
    const name = keys.find((key) => !policyFields.includes(key));
    if (name === undefined || keys.some((key) => gateKeys.has(key))) {
      if (written['type'] === 'custom' || Object.hasOwn(written, 'custom')) note(written, path);
      return written;
    }
    const { [name]: value, ...fields } = written;
    return own({ name, value: value ?? undefined, fields }, written, path);
  };

  const rewriteAt = (written: JsonObject, key: string, path: DocumentPath): JsonObject => {
    const value = written[key];
    const at = [...path, key];
    const changed = Array.isArray(value)
      ? value.map((part, index) => rewrite(part, [...at, index]))
      : rewrite(value, at);
    return { ...written, [key]: changed };
  };

  /** The long form, which needs no change. */
  const note = (written: JsonObject, path: DocumentPath) => {
    const { type: _type, custom, name = custom, value, arguments: args } = written;
    if (typeof name !== 'string') return;
    add({ name, value, fields: isRecord(args) ? args : {} }, path, { value: 'value', fields: ['arguments'] });
  };

  const own = (
    { name, value, fields = {} }: { name: string; value?: unknown; fields?: JsonObject },
    written: unknown,
    path: DocumentPath,
  ): JsonObject => {
    const isPolicy = ([key]: [string, unknown]) => policyFields.includes(key);
    const entries = Object.entries(fields);
    const args = Object.fromEntries(entries.filter((entry) => !isPolicy(entry)));
    add({ name, value, fields: args }, path, { value: isRecord(written) ? name : undefined, fields: [] });
    return {
      type: 'custom',
      name,
      ...(value !== undefined && { value }),
      ...(Object.keys(args).length > 0 && { arguments: args }),
      ...Object.fromEntries(entries.filter(isPolicy)),
    };
  };

  const add = (
    { name, value, fields }: { name: string; value: unknown; fields: JsonObject },
    path: DocumentPath,
    keys: { value: string | undefined; fields: DocumentPath },
  ) => {
    const locate = (pointer: string): SourceLocation => {
      const [first = '', ...others] = pointer.split('/').slice(1).map(unescapePointerToken);
      const isNext = Object.hasOwn(fields, first) || keys.value === undefined;
      const into = isNext ? keys.fields : isRecord(value) ? [keys.value ?? ''] : null;
      // A text alone is the first argument, whatever its name.
      return document.locateValue(into === null ? [...path, keys.value ?? ''] : [...path, ...into, first, ...others]);
    };
    const use = { name, ...(value !== undefined && { value }), arguments: fields };
    ownChecks.push({ use, location: document.locateValue(path), locate });
  };

  const rewriteList = (list: unknown, path: DocumentPath): unknown => {
    if (Array.isArray(list)) return list.map((each, index) => rewrite(each, [...path, index]));
    return isRecord(list) && Array.isArray(list['list'])
      ? { ...list, list: list['list'].map((each, index) => rewrite(each, [...path, 'list', index])) }
      : list;
  };
  const rewriteSteps = (steps: unknown, path: DocumentPath): unknown =>
    Array.isArray(steps) ? steps.map((step, index) => rewriteStep(step, [...path, index])) : steps;
  const rewriteStep = (step: unknown, path: DocumentPath): unknown => {
    if (!isRecord(step)) return step;
    const changed = { ...step };
    for (const key of ['assert', 'until', ...(step['kind'] === 'assert' ? ['assertion'] : [])]) {
      if (Object.hasOwn(step, key)) changed[key] = rewrite(step[key], [...path, key]);
    }
    if (Object.hasOwn(step, 'repeat')) changed['repeat'] = rewriteSteps(step['repeat'], [...path, 'repeat']);
    return changed;
  };
  const rewriteParts = (part: unknown, path: DocumentPath): unknown => {
    if (!isRecord(part)) return part;
    const changed = { ...part };
    if (Object.hasOwn(part, 'checks')) changed['checks'] = rewriteList(part['checks'], [...path, 'checks']);
    for (const key of ['setup', 'steps', 'teardown']) {
      if (Object.hasOwn(part, key)) changed[key] = rewriteSteps(part[key], [...path, key]);
    }
    return changed;
  };

  const value = rewriteParts(document.value, []);
  if (!isRecord(value) || !Array.isArray(value['cases'])) return { document: { ...document, value }, ownChecks };
  const cases = value['cases'].map((each, index) => rewriteParts(each, ['cases', index]));
  return { document: { ...document, value: { ...value, cases } }, ownChecks };
}
