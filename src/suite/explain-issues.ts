import { isRecord } from '../base/json.ts';
import { z } from 'zod';
import {
  chooseAlternative,
  describeAlternatives,
  findDiscriminator,
  findOnlyDiscriminator,
  findSchemaAt,
  findUnionAt,
  listAlternativeNames,
  readPart,
} from './zod-unions.ts';
import type { Finding } from './findings.ts';
import { suggestNearest } from './findings.ts';
import { quoteValue } from '../base/text.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

type Issue = z.core.$ZodIssue;

/** Turns zod issues into findings: one per mistake, at its own location, in the words of the file. */
export function explainIssues(schema: z.ZodType, document: SourceDocument, issues: readonly Issue[]): Finding[] {
  return issues.flatMap((issue) => explainIssue(schema, document, issue));
}

function explainIssue(root: z.ZodType, document: SourceDocument, issue: Issue, base: DocumentPath = []): Finding[] {
  const path = [...base, ...issue.path];
  const value = path.reduce(readPart, document.value);
  const at = (code: string, message: string): Finding[] => [{ ...document.locateValue(path), code, message }];
  const isMissing = value === undefined && path.length > 0;
  const key = describeKey(path);

  if (isMissing) return at('missing-key', `The key ${key} is missing`);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const owner = findSchemaAt(root, document.value, path);
      const known = owner instanceof z.ZodObject ? Object.keys(owner.shape) : [];
      return issue.keys.map((name) => ({
        ...document.locateKey([...path, name]),
        code: 'unknown-key',
        message: `Unknown key \`${name}\`${suggestNearest(name, known)}`,
      }));
    }
    case 'invalid_union': {
      const union = findUnionAt(root, document.value, path);
      const chosen = union && chooseAlternative(union, value);
      if (union === undefined) return at('wrong-type', `${key} cannot be ${quoteValue(value)}`);
      if (chosen === undefined) return explainUnknownAlternative(union, document, path);
      return (issue.errors[chosen.index] ?? []).flatMap((inner) => explainIssue(root, document, inner, path));
    }
    case 'invalid_type': {
      const advice = adviseOnType(issue.expected, value, path.at(-1));
      return at('wrong-type', `${key} must be ${describeType(issue.expected)}, not ${quoteValue(value)}${advice}`);
    }
    case 'invalid_value': {
      const suggestion =
        typeof value === 'string'
          ? suggestNearest(value, issue.values.map(String))
          : `; write ${issue.values.map(quoteValue).join(' or ')}`;
      return at('unknown-value', `${key} cannot be ${quoteValue(value)}${suggestion}`);
    }
    case 'too_small':
      return at('out-of-range', `${key} must be at least ${issue.minimum}, not ${quoteValue(value)}`);
    case 'too_big':
      return issue.origin === 'string'
        ? at('too-long', `${key} may have at most ${issue.maximum} characters`)
        : at('out-of-range', `${key} must be at most ${issue.maximum}, not ${quoteValue(value)}`);
    case 'custom': {
      const code: unknown = issue.params?.['code'];
      const location = issue.params?.['isKey'] === true ? document.locateKey(path) : document.locateValue(path);
      return [{ ...location, code: typeof code === 'string' ? code : 'bad-value', message: issue.message }];
    }
    default:
      return at('bad-value', `${key}: ${issue.message}`);
  }
}

function explainUnknownAlternative(union: z.ZodUnion, document: SourceDocument, path: DocumentPath): Finding[] {
  const value = path.reduce(readPart, document.value);
  const thing = union.meta()?.title;
  const names = listAlternativeNames(union);
  if (thing === undefined || (!isRecord(value) && typeof value !== 'string')) {
    const expected = thing === undefined ? describeAlternatives(union) : `the name of a kind of ${thing}, or a mapping`;
    const message = `${describeKey(path)} must be ${expected}, not ${quoteValue(value)}`;
    return [{ ...document.locateValue(path), code: 'wrong-type', message }];
  }
  const code = `unknown-${thing}`;
  const key = findOnlyDiscriminator(union);
  if (isRecord(value) && key !== undefined && !Object.hasOwn(value, key)) {
    const message = `The key \`${key}\` is missing${suggestNearest('', names)}`;
    return [{ ...document.locateValue(path), code: 'missing-key', message }];
  }
  if (typeof value === 'string') {
    const form = key === undefined ? `${value}: …` : `{ ${key}: ${value} }`;
    const advice = names.includes(value)
      ? `\`${value}\` needs a value: write \`${form}\``
      : `Unknown ${thing} \`${value}\`${suggestNearest(value, names)}`;
    return [{ ...document.locateValue(path), code, message: advice }];
  }
  const discriminator = findDiscriminator(union, value);
  if (discriminator !== undefined) {
    const name = value[discriminator];
    const message =
      typeof name === 'string'
        ? `Unknown ${thing} \`${name}\`${suggestNearest(name, names)}`
        : `\`${discriminator}\` must be the name of a kind of ${thing}, not ${quoteValue(name)}`;
    return [{ ...document.locateValue([...path, discriminator]), code, message }];
  }
  const [first] = Object.keys(value);
  if (first === undefined) {
    return [
      { ...document.locateValue(path), code, message: `An empty mapping is no ${thing}${suggestNearest('', names)}` },
    ];
  }
  // A mapping is never taken for a name that stands alone.
  const message = names.includes(first)
    ? `\`${first}\` takes no value: write \`${first}\` alone`
    : `Unknown ${thing} \`${first}\`${suggestNearest(first, names)}`;
  return [{ ...document.locateKey([...path, first]), code, message }];
}

/** Describes the last part of a path: `steps` item 3 for an item of a list, the key itself otherwise. */
function describeKey(path: DocumentPath): string {
  const last = path.at(-1);
  if (last === undefined) return 'The file';
  if (typeof last !== 'number') return `\`${String(last)}\``;
  const holder = path.at(-2);
  return holder === undefined ? `Item ${last + 1}` : `\`${String(holder)}\` item ${last + 1}`;
}

function describeType(expected: string): string {
  switch (expected) {
    case 'string':
      return 'text';
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'a mapping';
    case 'boolean':
      return 'true or false';
    case 'int':
      return 'a whole number';
    default:
      return `a ${expected}`;
  }
}

/** Keys that hold a command as a list of words. */
const commandKeys: ReadonlySet<PropertyKey> = new Set(['command', 'args']);

function adviseOnType(expected: string, value: unknown, key: PropertyKey | undefined): string {
  if (expected === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? '; write it in quotes' : '';
  if (expected === 'array' && isRecord(value)) return '; begin each of its items with `- `';
  if (expected === 'array' && typeof value === 'string' && key !== undefined && commandKeys.has(key)) {
    const words = value.split(/\s+/).filter((word) => word !== '');
    // Does not split text with quotes, because no shell would interpret them.
    if (words.length === 0 || /["'\\]/.test(value)) return '; write each of its words as an item, such as ["ls", "-l"]';
    return `; write [${words.map(quoteValue).join(', ')}]`;
  }
  if (expected === 'array') return value === null || typeof value === 'object' ? '' : `; write [${quoteValue(value)}]`;
  const isQuotedNumber = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  return isQuotedNumber && ['number', 'int'].includes(expected) ? '; write it without quotes' : '';
}
