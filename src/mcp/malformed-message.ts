import { escapePointerToken } from '../base/json-pointer.ts';
import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';

/** The most mistakes of one result that are listed; the others are counted. */
const maxMistakes = 3;

const issueSchema = z.object({
  code: z.string(),
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
  values: z.array(z.unknown()).optional(),
  /** The mistakes of each alternative of a union. */
  errors: z.array(z.array(z.unknown())).optional(),
});
type Issue = z.infer<typeof issueSchema>;

/**
 * Describes in one sentence why a message is invalid, from the MCP SDK's error: `/content/0/text: expected string, received number`. The
 * SDK puts the issues of its validator into the error as JSON; null for any other text.
 */
export function describeMalformedMessage(text: string): string | null {
  const issues = readIssues(text.replace(/^Invalid result for \S+: /, ''));
  if (issues === null) return null;
  const mistakes = [...new Set(issues.flatMap((issue) => describeIssue(issue, [])))];
  const rest = mistakes.length - maxMistakes;
  return mistakes.slice(0, maxMistakes).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function readIssues(text: string): Issue[] | null {
  return z.array(issueSchema).min(1).safeParse(tryParseJson(text)).data ?? null;
}

function describeIssue(issue: Issue, base: ReadonlyArray<string | number>): string[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors !== undefined) {
    const alternatives = issue.errors.map((issues) => z.array(issueSchema).catch([]).parse(issues));
    return describeUnion(alternatives, path);
  }
  const pointer = formatPointer(path);
  return [pointer === '' ? describeWrong(issue) : `${pointer}: ${describeWrong(issue)}`];
}

/** Lists the mistakes of the alternative that the value's `type` names; if it names none, the valid types. */
function describeUnion(alternatives: readonly Issue[][], path: ReadonlyArray<string | number>): string[] {
  const [meant] = alternatives
    .filter((issues) => issues.length > 0 && !issues.some(isAboutType))
    .toSorted((a, b) => a.length - b.length);
  if (meant !== undefined) return meant.flatMap((issue) => describeIssue(issue, path));
  const types = alternatives.flatMap((issues) => issues.filter(isAboutType).flatMap(({ values = [] }) => values));
  const pointer = formatPointer(types.length === 0 ? path : [...path, 'type']);
  return [`${pointer}: ${types.length === 0 ? 'fits none of the allowed forms' : describeAllowed(types)}`];
}

function isAboutType({ code, path }: Issue): boolean {
  return code === 'invalid_value' && path.length === 1 && path[0] === 'type';
}

function describeWrong({ message, values }: Issue): string {
  return values === undefined ? message.replace(/^Invalid input: /, '') : describeAllowed(values);
}

function describeAllowed(values: readonly unknown[]): string {
  const words = [...new Set(values.map(String))];
  return `expected ${words.length === 1 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`}`;
}

function formatPointer(path: ReadonlyArray<string | number>): string {
  return path.map((part) => `/${escapePointerToken(String(part))}`).join('');
}
