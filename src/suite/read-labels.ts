import { z } from 'zod';
import type { SourceLocation } from '../cases/suite.ts';
import { explainIssues } from './explain-issues.ts';
import { type Finding, sortFindings } from './findings.ts';
import { modelId } from './scalar-schemas.ts';
import { text, withIssueCode } from '../model/written-values.ts';
import { parseSource } from './source-document.ts';

const passed = z.boolean().meta({ description: 'True if a person says that it passes.' });

const partSchema = z.union([
  z.strictObject({ system: z.string() }),
  z.strictObject({ user: z.string() }),
  z.strictObject({ assistant: z.string() }),
  z.strictObject({ toolCall: text, arguments: z.record(z.string(), z.unknown()).exactOptional() }),
  z.strictObject({ toolResult: text, text: z.string(), isError: z.boolean().exactOptional() }),
]);

const exampleSchema = z.union([
  z.strictObject({
    answer: z.string().meta({ description: "The model's answer." }),
    prompt: text.exactOptional().meta({ description: 'The prompt to the model.' }),
    passed,
  }),
  z.strictObject({
    conversation: z.array(partSchema).min(1).meta({ description: 'Messages and calls, in order.' }),
    passed,
  }),
]);

/** Limits the cost of a mistake: each example takes up to three model calls. */
const maxExamples = 1000;

const containsLabel = (label: boolean) => ({
  contains: { type: 'object', required: ['passed'], properties: { passed: { const: label } } },
});

const labelsSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  judge: z
    .strictObject({
      rubric: text.meta({ description: 'The criterion of the judge, in words.' }),
      model: modelId.meta({ description: 'The model that judges, as `provider/name`.' }),
      threshold: z.number().min(0).max(1).exactOptional().meta({
        description:
          'The score, 0 to 1, from which the judge passes. Default: the judge says itself whether it passes.',
      }),
    })
    .meta({ description: 'The judge, as the evals file has it.' }),
  examples: z
    .array(exampleSchema)
    .max(maxExamples)
    .refine(
      (examples) => examples.some(({ passed }) => passed) && examples.some(({ passed }) => !passed),
      withIssueCode('one-label', 'Examples of both labels are needed; add one that passes or one that fails'),
    )
    .meta({ description: 'Examples of both labels.', allOf: [containsLabel(true), containsLabel(false)] }),
});

/** Builds the JSON Schema 2020-12 of the file of labelled examples, for editors. It is generated from the schema that `readLabels` uses. */
export function buildLabelsJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(labelsSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    $id: 'urn:mcp-eval-ci:labels:1',
    title: 'Labelled examples of a judge',
    description: 'A judge and examples with the label that a person gives them, for `mcp-eval-ci calibrate`.',
    ...schema,
  };
}

/** A part of a conversation, as a judge reads it. */
type LabelledPart =
  | { system: string }
  | { user: string }
  | { assistant: string }
  | { toolCall: string; arguments: unknown }
  | { toolResult: string; text: string; isError: boolean };

/** A conversation, and the label that a person gave it. */
export interface LabelledExample {
  conversation: LabelledPart[];
  isPassed: boolean;
  location: SourceLocation;
}

/** A judge and the examples that it is compared with. */
export interface Labels {
  judge: { rubric: string; model: string; threshold: number | null };
  examples: LabelledExample[];
}

/**
 * Reads a file of labelled examples, YAML or JSON, and reports all of its mistakes at once. Never throws, whatever the text. Findings call
 * the file `file`. The labels are null exactly if there are findings.
 */
export function readLabels(text: string, { file }: { file: string }): { labels: Labels | null; findings: Finding[] } {
  const { document, findings } = parseSource(text, file);
  if (document === null) return { labels: null, findings: sortFindings(findings) };
  const parsed = labelsSchema.safeParse(document.value);
  const problems = parsed.success ? [] : explainIssues(labelsSchema, document, parsed.error.issues);
  if (!parsed.success || findings.length > 0) {
    return { labels: null, findings: sortFindings([...findings, ...problems]) };
  }
  const { judge, examples } = parsed.data;
  return {
    labels: {
      judge: { rubric: judge.rubric, model: judge.model, threshold: judge.threshold ?? null },
      examples: examples.map((example, index) => ({
        conversation: readConversation(example),
        isPassed: example.passed,
        location: document.locateValue(['examples', index]),
      })),
    },
    findings: [],
  };
}

function readConversation(example: z.infer<typeof exampleSchema>): LabelledPart[] {
  if ('answer' in example) {
    const { prompt, answer } = example;
    return [...(prompt === undefined ? [] : [{ user: prompt }]), { assistant: answer }];
  }
  return example.conversation.map((part) => {
    if ('toolCall' in part) return { toolCall: part.toolCall, arguments: part.arguments ?? {} };
    if ('toolResult' in part) return { ...part, isError: part.isError ?? false };
    return part;
  });
}
