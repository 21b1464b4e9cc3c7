import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildLabelsJsonSchema, readLabels } from '../../src/suite/read-labels.ts';
import { judgeBlockKind, listYamlBlocks } from '../support/text/yaml-blocks.ts';

const root = path.resolve(import.meta.dirname, '../..');
const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(buildLabelsJsonSchema());

/** Every labels file of the documents. */
const documented = readdirSync(path.join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => listYamlBlocks(`docs/${name}`, readFileSync(path.join(root, 'docs', name), 'utf8')))
  .filter(({ text }) => judgeBlockKind(text) === 'labels')
  .map(({ text }) => text);

const judge = 'judge: { rubric: Good., model: openai/gpt-5-mini }\n';
const both = 'examples: [{ answer: a, passed: true }, { answer: b, passed: false }]\n';

/** What the schema says of a text, next to what `readLabels` does. */
const judgeBoth = (text: string) => [validate(parse(text)), readLabels(text, { file: 'labels.yaml' }).labels !== null];

describe('the JSON Schema of labelled examples', () => {
  it('is the one that is published', () => {
    const published: unknown = JSON.parse(readFileSync(path.join(root, 'schemas/labels.schema.json'), 'utf8'));
    expect(published).toEqual(JSON.parse(JSON.stringify(buildLabelsJsonSchema())));
  });

  it('accepts every example of the documents, as the command does', () => {
    expect(documented).not.toEqual([]);
    for (const text of documented) expect([text, ...judgeBoth(text)]).toEqual([text, true, true]);
  });

  it.each([
    judge + both,
    `$schema: ./labels.schema.json\n${judge}${both}`,
    `# yaml-language-server: $schema=labels.schema.json\n${judge}${both}`,
    `${judge}examples: [{ conversation: [{ assistant: a }], passed: true }, { answer: "", passed: false }]`,
  ])('accepts what the command accepts: %s', (text) => {
    expect(judgeBoth(text)).toEqual([true, true]);
  });

  it.each([
    both,
    judge,
    judge + both.replace('true', '1'),
    judge + both.replace('true', 'false'),
    judge + both.replace('answer: a', 'anwser: a'),
    judge.replace('gpt-5-mini', '') + both,
    judge.replace('Good.', '""') + both,
    judge.replace(' }', ', threshold: 2 }') + both,
    `${judge}examples: [{ conversation: [], passed: true }, { answer: b, passed: false }]`,
    `${judge}${both}extra: 1\n`,
  ])('refuses what the command refuses: %s', (text) => {
    expect(judgeBoth(text)).toEqual([false, false]);
  });
});
