import { z } from 'zod';
import type { CheckValues, SharedParts } from './check-parts.ts';

/**
 * Checks of what a tool answered. Some are the API's too, in its newest version; the job judges them from the trace of a hosted
 * run, since older versions of the service fail what they do not know.
 */
export function createToolResultSchemas({
  values,
  part,
  object,
  ofTool,
  caseSensitive,
}: SharedParts & { values: CheckValues }) {
  const { text, re2Pattern, count, milliseconds } = values;
  const latest = z
    .boolean()
    .exactOptional()
    .meta({ description: 'Judge the latest result alone instead of every result so far.' });
  const path = values.pointer.exactOptional();
  const mimeType = text.exactOptional().meta({ description: '`*` is any text, as in `image/*`.' });
  const uri = text.exactOptional().meta({ description: 'The whole URI; `*` is any text.' });
  const minBytes = count.exactOptional().meta({ description: 'Bytes of the data, decoded.' });
  const maxBytes = minBytes;
  const blockText = text.exactOptional().meta({ description: 'Text that the block contains, in any case.' });

  return {
    toolResultContains: object({
      type: z.literal('toolResultContains'),
      needle: values.needle.meta({ description: 'Text that a result, or the part of it at `path`, contains.' }),
      caseSensitive,
      path,
      toolName: ofTool,
      latest,
    }),
    toolResultMatches: object({
      type: z.literal('toolResultMatches'),
      pattern: re2Pattern.meta({
        description: 'RE2 regular expression that a result, or the part of it at `path`, matches.',
      }),
      path,
      toolName: ofTool,
      latest,
    }),
    toolResultMatchesSchema: object({
      type: z.literal('toolResultMatchesSchema'),
      schema: values.jsonSchema.meta({
        description: 'JSON Schema 2020-12 that every result, or the part of it at `path`, conforms to.',
      }),
      path,
      toolName: ofTool,
      latest,
    }),
    toolLatencyUnder: object({
      type: z.literal('toolLatencyUnder'),
      ms: milliseconds.meta({ description: 'Milliseconds that every call took less than.' }),
      toolName: ofTool,
      latest,
    }),
    toolResultEquals: object({
      type: z.literal('toolResultEquals'),
      value: values.value.meta({ description: 'What the latest result, or the part of it at `path`, equals.' }),
      path,
      tolerance: z.number().min(0).exactOptional().meta({
        description: 'By how much numbers may differ, at every depth.',
      }),
      unordered: z.boolean().exactOptional().meta({
        description: 'True compares lists in any order, at every depth.',
      }),
      toolName: ofTool,
    }),
    toolResultIsError: object({
      type: z.literal('toolResultIsError'),
      isError: z.boolean().meta({ description: 'Whether the latest result is an error.' }),
      toolName: ofTool,
    }),
    toolResultContent: object({
      type: z.literal('toolResultContent'),
      block: z
        .union([
          part({ type: z.literal('text'), text: blockText }),
          part({
            type: z.literal('image'),
            mimeType,
            minBytes,
            maxBytes,
            width: count.exactOptional(),
            height: count.exactOptional(),
          }),
          part({ type: z.literal('audio'), mimeType, minBytes, maxBytes }),
          part({ type: z.literal('resource'), uri, mimeType, text: blockText, minBytes, maxBytes }),
          part({ type: z.literal('resource_link'), uri, mimeType, name: text.exactOptional() }),
        ])
        .meta({ id: 'block', title: 'block', description: 'A block of content that the latest result has.' }),
      count: count.exactOptional().meta({ description: 'How many blocks are like this; at least one by default.' }),
      toolName: ofTool,
    }),
    toolError: object({
      type: z.literal('toolError'),
      error: part({
        code: z.int().exactOptional().meta({ description: 'Code of a JSON-RPC error, such as -32602.' }),
        contains: values.needle.exactOptional().meta({ description: 'Text of the error, in any case.' }),
        matches: re2Pattern.exactOptional().meta({ description: 'RE2 regular expression that the error matches.' }),
      })
        .refine((error) => Object.keys(error).length > 0, {
          message: 'Write at least one of `code`, `contains` and `matches`',
          params: { code: 'empty-error' },
        })
        .meta({ id: 'tool-error', minProperties: 1, description: 'What the error of the latest result is like.' }),
      toolName: ofTool,
    }),
    toMatchFile: object({
      type: z.literal('toMatchFile'),
      file: values.snapshot.meta({
        description:
          'A snapshot that the latest result, or the part of it at `path`, equals; a path from the folder of the evals file.',
      }),
      path,
      ignore: z.array(values.ignorePattern).exactOptional().meta({
        description: 'Parts that are not compared: JSON Pointers with `*` as any segment, or RE2 expressions.',
      }),
      toolName: ofTool,
    }),
    /** Of the latest call of the tool: the server does not list it, and answered the call with an error. */
    toolNotFound: object({
      type: z.literal('toolNotFound'),
      toolName: values.toolName.meta({
        description: 'A tool that the server does not list, and whose call it refuses.',
      }),
    }),
  };
}
