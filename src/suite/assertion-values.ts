import { escapePointerToken } from '../base/json-pointer.ts';
import { RE2JS } from 're2js';
import { z } from 'zod';
import { namedUnion } from './named-union.ts';
import { describeError } from '../base/errors.ts';
import {
  createCheckParts,
  isSmallSchema,
  jsonPointerPattern,
  maxNeedleLength,
  maxSchemaBytes,
} from '../checks/parts.ts';
import { nestedQuantifier } from '../checks/response.ts';
import { createCaptureSchema } from '../checks/captures.ts';
import { blankPattern, findNameProblem } from '../cases/placeholders.ts';
import { createActionSchemas, createWidgetParts } from '../model/widget.ts';
import { findIgnoreProblem } from './ignore-pattern.ts';
import { isSnapshotPath } from './snapshots.ts';
import { modelId } from './scalar-schemas.ts';
import { withIssueCode, text } from '../model/written-values.ts';
import { findSchemaProblems } from './schema-problems.ts';

const positive = z.int().min(1);

/** Hosted services refuse longer arguments. */
const maxArgumentsLength = 100_000;

export const toolArguments = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= maxArgumentsLength,
    withIssueCode('arguments-too-long', `Arguments may have at most ${maxArgumentsLength} characters as JSON`),
  )
  .meta({ id: 'arguments', description: 'Arguments of the call.' });

const responsePattern = text.superRefine((pattern, context) => {
  const tested = blankPattern(pattern);
  // Refuses the patterns that the service refuses to run.
  const reason = nestedQuantifier.test(tested)
    ? 'a repeated group that ends in a repetition can take exponential time'
    : explainThrow(() => new RegExp(tested));
  addPatternIssue(pattern, reason, context);
});

export const re2Pattern = text.superRefine((pattern, context) => {
  addPatternIssue(
    pattern,
    explainThrow(() => RE2JS.compile(blankPattern(pattern))),
    context,
  );
});

function addPatternIssue(pattern: string, reason: string | undefined, context: z.RefinementCtx): void {
  if (reason === undefined) return;
  const message = `The pattern ${JSON.stringify(pattern)} is refused: ${reason}`;
  context.addIssue({ code: 'custom', message, params: { code: 'unsafe-pattern' } });
}

function explainThrow(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** Suggests the JSON Pointer for a path in another notation, such as `/items/0/name` for `$.items[0].name`. */
function suggestPointer(path: unknown): string {
  const keys = typeof path === 'string' ? path.split(/[/.[\]"']+/).filter((key) => key !== '' && key !== '$') : [];
  const meant = keys.map((key) => `/${escapePointerToken(key)}`).join('');
  return meant === '' || meant.length > 100 ? '/key/0' : meant;
}

const pointer = z
  .string()
  .refine(
    (value) => jsonPointerPattern.test(value),
    withIssueCode(
      'bad-pointer',
      (value) => `${JSON.stringify(value)} is not a JSON Pointer; write \`${suggestPointer(value)}\``,
    ),
  )
  .meta({
    pattern: jsonPointerPattern.source,
    description: 'JSON Pointer into the structured content, or into text read as JSON.',
  });

const capturePattern = re2Pattern
  .superRefine((pattern, context) => {
    const count = countGroups(pattern);
    if (count <= 1) return;
    const message = `A capture has at most one group, and ${JSON.stringify(pattern)} has ${count}; write \`(?:…)\` for those that are not captured`;
    context.addIssue({ code: 'custom', message, params: { code: 'many-groups' } });
  })
  .meta({
    pattern: String.raw`\S`,
    description: 'RE2 expression. Its group is captured, or the whole match if it has none.',
  });

function countGroups(pattern: string): number {
  try {
    return RE2JS.compile(blankPattern(pattern)).groupCount();
  } catch {
    // Another finding names the mistake.
    return 0;
  }
}

/** The values that a step keeps of its result. */
export const capture = z
  .record(z.string(), createCaptureSchema({ pointer, pattern: capturePattern }))
  .superRefine((names, context) => {
    for (const name of Object.keys(names)) {
      const message = findNameProblem(name);
      if (message !== null) {
        context.addIssue({ code: 'custom', path: [name], message, params: { code: 'bad-name', isKey: true } });
      }
    }
  })
  .meta({
    id: 'capture',
    description:
      'Values for later steps: names, and JSON Pointers into the result as the server sent it, or a part of a text there.',
    examples: [{ noteId: '/structuredContent/id' }, { noteId: { path: '/content/0/text', matches: 'id: (\\d+)' } }],
  });

const jsonSchema = z
  .union([z.record(z.string(), z.unknown()), z.boolean()])
  .superRefine((schema, context) => {
    for (const { path, isKey, message } of findSchemaProblems(schema)) {
      context.addIssue({ code: 'custom', message, path: [...path], params: { code: 'bad-schema', isKey } });
    }
  })
  .refine(isSmallSchema, withIssueCode('too-long', `A schema may have at most ${maxSchemaBytes} bytes as JSON`));

export const ignorePattern = text
  .superRefine((pattern, context) => {
    const message = findIgnoreProblem(pattern);
    if (message !== null) context.addIssue({ code: 'custom', message, params: { code: 'bad-ignore-pattern' } });
  })
  .meta({
    description: "A JSON Pointer into a tool's result, in which `*` is any one segment, or an RE2 regular expression.",
  });

const snapshot = text
  .refine(
    (value) => isSnapshotPath(value.replaceAll(/\{\{[^{}]*\}\}/g, 'column')),
    withIssueCode(
      'bad-snapshot',
      (value) =>
        `${JSON.stringify(value)} is no path for a snapshot: it has to be inside the folder of this file, below a directory \`snapshots\` or with a name that ends in \`.snap\`, and not in a directory that begins with a dot; write \`snapshots/name.json\``,
    ),
  )
  .meta({ examples: ['snapshots/name.json'] });

/** The schemas of the fields of checks in a file. */
export const fileParts = createCheckParts({
  isClosed: true,
  toolName: text,
  text,
  needle: z
    .string()
    .max(maxNeedleLength)
    .refine((value) => /\S/.test(value), withIssueCode('empty-text', 'This text must not be empty'))
    .meta({ pattern: '\\S' }),
  pattern: responsePattern,
  re2Pattern,
  pointer,
  jsonSchema,
  arguments: toolArguments,
  snapshot,
  ignorePattern,
  value: z.unknown(),
  count: positive,
  milliseconds: positive,
  model: modelId,
});

/** The schemas of the fields of widget assertions and actions in a file. */
export const fileWidgetParts = createWidgetParts({
  toolName: text,
  text,
  index: z.int().min(0),
  wait: z.int().min(0).max(30_000),
  emptyLocator: withIssueCode(
    'bad-locator',
    'An element is found by at least one of `role`, `text`, `css` and `testId`',
  ),
});

/** The action of an `interact` step. */
export const actionSchema = namedUnion(createActionSchemas(fileWidgetParts)).meta({
  id: 'action',
  title: 'action',
  description: "The user's action in the rendered widget.",
});
