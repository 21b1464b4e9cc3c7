import { escapePointerToken } from '../../base/json-pointer.ts';
import { isRecord, type JsonObject, tryParseJson } from '../../base/json.ts';
import type { ObservedStep, Outcome } from '../exploration.ts';
import { volatileMark } from '../stability/forms.ts';
import type { RequiredNames } from './title.ts';
import { readOutcomeText, readResultTexts } from '../stability/texts.ts';

/** A value that is asserted as a whole fits on a few lines. */
const longestWhole = 300;
const longestText = 200;
const shortestText = 3;
const maxParts = 3;

/** Chooses the checks of one step, as a person would: few, and about what is stable. */
export function chooseChecks(step: ObservedStep, required: RequiredNames): JsonObject[] {
  const { request, observation } = step;
  const { outcome } = observation;
  if (outcome.kind === 'error' || (outcome.kind === 'result' && outcome.isError)) return chooseRefusal(step, required);
  if (outcome.kind !== 'result') return [];
  if (request.kind === 'resource') return chooseTexts(outcome, 'resourceContains', []);
  if (request.kind === 'prompt') return chooseTexts(outcome, 'promptContains', []);
  const answered = { toolResultIsError: false };
  const { structuredContent } = outcome.result;
  const document = structuredContent ?? readDocument(outcome);
  if (isRecord(document) || Array.isArray(document)) {
    const parts = chooseParts(document);
    return parts.length === 0 ? [answered] : parts;
  }
  return chooseTexts(outcome, 'toolResultContains', [answered]);
}

/** The name of the argument, and no word of a framework, which changes with a dependency. */
function chooseRefusal({ request, observation: { outcome } }: ObservedStep, required: RequiredNames): JsonObject[] {
  const text = readOutcomeText(outcome);
  if (request.kind !== 'tool') return [{ requestError: outcome.kind === 'error' ? { code: outcome.code } : {} }];
  const isNamed = (name: string) => new RegExp(String.raw`\b${escapeExpression(name)}\b`).test(text);
  const missing = (required.get(request.tool) ?? []).filter((name) => !Object.hasOwn(request.arguments, name));
  const name = [...missing, ...Object.keys(request.arguments)].find(isNamed);
  const contains = name === undefined || name.includes('{{') ? {} : { contains: name };
  const code = outcome.kind === 'error' ? { code: outcome.code } : {};
  const saysMore = Object.keys({ ...contains, ...code }).length > 0;
  return [{ toolResultIsError: true }, ...(saysMore ? [{ toolError: { ...code, ...contains } }] : [])];
}

const escapeExpression = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Reads the only text of a result as JSON; undefined if it is none. */
function readDocument(outcome: Extract<Outcome, { kind: 'result' }>): unknown {
  const texts = readResultTexts(outcome.result);
  const [only = ''] = texts;
  return texts.length === 1 && /^\s*[[{]/.test(only) ? tryParseJson(only) : undefined;
}

/** Asserts a small document as a whole, or else a few stable values in it. */
function chooseParts(document: unknown): JsonObject[] {
  const text = JSON.stringify(document);
  if (text.length <= longestWhole && !text.includes(volatileMark)) return [{ toolResultEquals: document }];
  const leaves = listLeaves(document, '').filter(({ value }) => isTelling(value));
  return leaves.slice(0, maxParts).map(({ pointer, value }) => ({ toolResultEquals: value, path: pointer }));
}

function isTelling(value: unknown): boolean {
  if (typeof value === 'string') {
    return value !== '' && value.length <= longestText && !value.includes(volatileMark) && !value.includes('\n');
  }
  return typeof value === 'number' || typeof value === 'boolean';
}

function listLeaves(value: unknown, pointer: string): Array<{ pointer: string; value: unknown }> {
  if (Array.isArray(value)) return value.slice(0, 3).flatMap((item, index) => listLeaves(item, `${pointer}/${index}`));
  if (!isRecord(value)) return [{ pointer, value }];
  return Object.entries(value).flatMap(([name, member]) =>
    name.includes(volatileMark) ? [] : listLeaves(member, `${pointer}/${escapePointerToken(name)}`),
  );
}

/** Asserts stable text: all of it if it is short, and else its first, longest and last lines, or parts of them. */
function chooseTexts(outcome: Outcome, check: string, otherwise: JsonObject[]): JsonObject[] {
  const [text = ''] = outcome.kind === 'result' ? readResultTexts(outcome.result) : [];
  if (text.length <= longestText && text.trim().length >= 1 && !text.includes(volatileMark)) return [{ [check]: text }];
  const parts = text
    .split('\n')
    .flatMap((line) => line.split(volatileMark))
    .map((part) => part.trim())
    .filter((part) => part.length >= shortestText && part.length <= longestText);
  const [longest] = parts.toSorted((a, b) => b.length - a.length);
  const chosen = new Set([parts[0], longest, parts.at(-1)].filter((part) => part !== undefined));
  return chosen.size === 0 ? otherwise : [...chosen].map((part) => ({ [check]: part }));
}
