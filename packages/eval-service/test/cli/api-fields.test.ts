import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import { hideSecrets } from '../../src/cli/call-api.ts';
import { nameFlag } from '../../../../src/cli/field-flag.ts';
import { readFields } from '../../src/cli/api-fields.ts';
import { listOperations } from '../../../../src/service/operations/table.ts';

function findOperation(name: string) {
  const found = listOperations().find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found;
}

const steps = [{ id: 's1', kind: 'prompt', prompt: 'Hello' }];
const files: Record<string, string> = { 'steps.json': JSON.stringify(steps), 'broken.json': '[{' };

function read(name: string, words: string) {
  return readFields(findOperation(name), words === '' ? [] : words.split(' '), {
    read: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`there is no file ${path}`);
      return text;
    },
  });
}

async function readIssues(name: string, words: string): Promise<string[]> {
  const error = await read(name, words).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigurationError)) throw new Error('The words were read.', { cause: error });
  return error.issues.map(({ input, message }) => `${input} ${message}`);
}

const suite = '--project-id p --suite-id s';

describe('the fields of an operation', () => {
  it.each([
    ['text', 'createProject', '--name 12', { name: '12' }],
    ['text with an equals sign', 'createProject', '--name=a=b', { name: 'a=b' }],
    ['a number', 'listEvalSuiteRuns', `${suite} --limit 5`, { projectId: 'p', suiteId: 's', limit: 5 }],
    ['the spelling of the API', 'listEvalSuiteRuns', '--projectId p --suiteId s', { projectId: 'p', suiteId: 's' }],
    ['a file', 'createEvalCase', `${suite} --title T --steps @steps.json`, { title: 'T', steps }],
    ['a switch', 'createEvalCase', `${suite} --is-negative --title T --steps []`, { isNegative: true, title: 'T' }],
    ['a switch with a value', 'updateEvalCase', `${suite} --case-id c --is-negative false`, { isNegative: false }],
    ['null, which clears', 'updateEvalCase', `${suite} --case-id c --checks null`, { checks: null }],
    ['a whole body', 'createEvalCase', `${suite} --body {"title":"A","steps":[]} --title B`, { title: 'B', steps: [] }],
    [
      'a flag per item of a list of objects',
      'updateEvalCase',
      `${suite} --case-id c --models {"model":"a"} --models {"model":"b"}`,
      { models: [{ model: 'a' }, { model: 'b' }] },
    ],
    [
      'a flag per item of a list of texts',
      'createEvalRun',
      '--project-id p --case-ids 1 --case-ids 2',
      { caseIds: ['1', '2'] },
    ],
  ])('may be %s', async (_what, name, words, fields) => {
    expect(await read(name, words)).toMatchObject(fields);
  });

  it.each([
    ['createProject', '--nmae x', '--nmae is no field of createProject; did you mean --name?'],
    ['getMe', '--verbosely', '--verbosely is no field of getMe; getMe has no fields'],
    ['createProject', 'x --name y', '"x" is behind no flag'],
    ['createProject', '', '--name is required for createProject'],
    ['createProject', '--name', '--name needs a value'],
    ['listEvalSuiteRuns', `${suite} --limit many`, '--limit is a number, not "many"'],
    ['createEvalCase', `${suite} --title T --steps @no.json`, '--steps there is no file no.json'],
    ['createEvalCase', `${suite} --title T --steps []  --is-negative=maybe`, '--is-negative is true or false'],
  ])('of %s are refused: %s', async (name, words, issue) => {
    expect(await readIssues(name, words.replace('  ', ' '))).toEqual([issue]);
  });

  it('name the file that holds no JSON', async () => {
    const [issue] = await readIssues('createEvalCase', `${suite} --title T --steps @broken.json`);
    expect(issue).toMatch(/^--steps the file broken\.json holds no JSON/);
  });

  it('can all be written as flags that no option of the command takes', () => {
    const own = new Set([
      '--service',
      '--base-url',
      '--api-key',
      '--project',
      '--all',
      '--show-secrets',
      '--help',
      '--body',
    ]);
    const flags = listOperations().flatMap(({ query, body }) =>
      [query, body].flatMap(({ shape }) => Object.keys(shape)),
    );
    expect(flags.map(nameFlag).filter((flag) => own.has(flag))).toEqual([]);
  });
});

describe('the secrets of an answer', () => {
  it('are hidden: named fields at every depth, and the key in a URL', () => {
    const answer = { token: 't', list: [{ token: null, url: 'http://h/a?k=secret&b=1' }], plain: 'k=v' };
    expect(hideSecrets(answer, { secrets: ['token'] })).toEqual({
      token: '***',
      list: [{ token: null, url: 'http://h/a?k=***&b=1' }],
      plain: 'k=v',
    });
  });
});
