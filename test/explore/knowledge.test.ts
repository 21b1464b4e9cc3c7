import { expect, it } from 'vitest';
import type { SessionRun } from '../../src/explore/exploration.ts';
import type { ListedTool } from '../../src/explore/inventory.ts';
import { createKnowledge } from '../../src/explore/knowledge.ts';

const tool: ListedTool = {
  name: 'get_forecast',
  description: '',
  inputSchema: {},
  outputSchema: null,
  hints: {},
  isReadOnly: true,
  needsTask: false,
  parameters: [],
};
const listValues = (text: string, name: string, type: 'string' | 'integer') => {
  const inventory = { tools: [tool], resources: [], templates: [], prompts: [], completes: false, runsTasks: false };
  const knowledge = createKnowledge(inventory, { files: [], directories: [] }, () => false);
  const result = { messages: [{ role: 'user', content: { type: 'text', text } }] };
  const run: SessionRun = {
    phase: 'examples',
    steps: [
      {
        request: { kind: 'prompt', prompt: 'plan', arguments: {} },
        isValid: null,
        observation: {
          outcome: { kind: 'result', isError: false, result },
          files: { added: [], changed: [], removed: [] },
          noise: null,
        },
      },
    ],
  };
  knowledge.learn(run);
  return knowledge.listValues(tool, { name, isRequired: true, description: '', schema: { type } });
};

it.each([
  ['Call get_forecast with city="Oslo" first.', 'city', 'string', 'Oslo'],
  ['Send {"cityName": "Oslo", "quota": 4}', 'city_name', 'string', 'Oslo'],
  ['Send {"cityName": "Oslo", "quota": 4}', 'quota', 'integer', 4],
  ["The station: 'SN18700'.", 'station', 'string', 'SN18700'],
] as const)('takes values from the prompt %j for %s', (text, name, type, value) => {
  expect(listValues(text, name, type)[0]).toBe(value);
});

it.each(['A city: Oslo', 'Ask for the "city" of the user.', 'city: "2026-01-15"'])(
  'takes no value from the prompt %j',
  (text) => {
    expect(listValues(text, 'city', 'string')).toEqual(listValues('', 'city', 'string'));
  },
);

it('gives a path the ending that a refusal asked for, and takes a file that has it where one is read', () => {
  const inventory = { tools: [tool], resources: [], templates: [], prompts: [], completes: false, runsTasks: false };
  const files = ['a.txt', 'table.xlsx'];
  const knowledge = createKnowledge(inventory, { files, directories: [] }, () => false);
  for (let tools = 0; tools < 4; tools += 1)
    knowledge.noteForms('any', { filepath: 'a.txt' }, "'a.txt' must be absolute");
  const path = '{{workspace}}/a.txt';
  knowledge.noteForms('any', { filepath: path }, `'${path}' must be an Excel file (.xlsx)`);
  knowledge.noteForms('import_csv', { filepath: path }, `'${path}' must be a CSV file (.csv)`);
  const take = (name: string, path: string, isAlone: boolean) =>
    knowledge.takeForms({ ...tool, name }, { filepath: path }, isAlone)['filepath'];
  expect(take('read_sheet', '{{workspace}}/b.csv', true)).toBe('{{workspace}}/table.xlsx');
  // A call before it may have made the file, and a new file has a new name.
  expect(take('read_sheet', 'b.csv', false)).toBe('{{workspace}}/b.xlsx');
  expect(take('create_workbook', 'b.csv', true)).toBe('{{workspace}}/b.xlsx');
  expect(take('import_csv', 'b.txt', false)).toBe('{{workspace}}/b.csv');
  expect(knowledge.takeForms(tool, { other: 'b.csv' }, true)).toEqual({ other: 'b.csv' });
});
