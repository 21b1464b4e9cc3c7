import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { listServerInputs, renderWorkflow } from '../../src/init/write-workflow.ts';
import { readInlineTests, readSuite } from '../../src/suite/read.ts';
import { readLabels } from '../../src/suite/read-labels.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';
import { readWorkflow } from '../support/runner/example-workflow.ts';
import { openWorkflowValidator, type WorkflowValidator } from '../support/runner/workflow-validator.ts';
import { judgeBlockKind, listYamlBlocks, wrapSteps, type YamlBlock } from '../support/text/yaml-blocks.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const actionText = read('action.yml');
const actionTexts = { '': actionText, merge: read('merge/action.yml'), publish: read('publish/action.yml') };

let validator: WorkflowValidator;

beforeAll(async () => {
  validator = await openWorkflowValidator(actionTexts);
});

afterAll(async () => {
  await validator[Symbol.asyncDispose]();
});

/** Lists the paths below the root of files with a matching name, in the directories that people read. */
function listFiles(pattern: RegExp, directories = ['.', 'docs', 'examples', '.github']): string[] {
  return directories.flatMap((directory) =>
    readdirSync(path.join(root, directory), { recursive: directory !== '.', withFileTypes: true })
      .filter((entry) => entry.isFile() && pattern.test(entry.name))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((file) => !file.includes('node_modules')),
  );
}

/** Lists outputs that a workflow reads from the step with the given id and that action.yml does not have. */
function listUnknownOutputs(text: string): string[] {
  const { outputs } = parse(actionText) as { outputs: Record<string, unknown> };
  const names = [...text.matchAll(/steps\.evals\.outputs\.([\w-]+)/g)].map((match) => match[1] ?? '');
  return names.filter((name) => !Object.hasOwn(outputs, name));
}

async function findProblems(block: YamlBlock): Promise<string[]> {
  switch (judgeBlockKind(block.text)) {
    case 'workflow':
      return [...(await validator.validateWorkflow(block.text)), ...listUnknownOutputs(block.text)];
    case 'steps':
      return [...(await validator.validateWorkflow(wrapSteps(block.text))), ...listUnknownOutputs(block.text)];
    case 'suite':
      return readSuite(block.text, { file: block.file }).findings.map(formatConfigurationIssue);
    case 'cases':
      return readInlineTests(block.text, { file: block.file, name: 'tests' }).findings.map(formatConfigurationIssue);
    case 'policy':
      return readPolicy(block.text, { file: block.file }).findings.map(formatConfigurationIssue);
    case 'labels':
      return readLabels(block.text, { file: block.file }).findings.map(formatConfigurationIssue);
    case 'unknown':
      return [
        'This block is neither a workflow, nor steps, nor an evals file, nor a list of cases, nor a policy, nor labels.',
      ];
  }
}

describe('action.yml', () => {
  it.each(Object.entries(actionTexts))('in the folder %j is valid', async (_, text) => {
    expect(await validator.validateAction(text)).toEqual([]);
  });

  it('is reported if it is invalid', async () => {
    expect(await validator.validateAction(actionText.replace('using: node24', 'using: node8'))).not.toEqual([]);
  });
});

describe('workflows', () => {
  const files = listFiles(/\.ya?ml$/, ['.github/workflows', 'examples/workflows']).filter((file) =>
    /jobs:/.test(read(file)),
  );

  it.each(files)('%s is valid', async (file) => {
    expect(await validator.validateWorkflow(read(file))).toEqual([]);
  });

  it.each(files)('%s pins every action of others to a commit', (file) => {
    const references = [...read(file).matchAll(/uses:\s*(\S+)(.*)/g)].filter(
      // The published owner and version of this action are not known yet.
      ([, reference]) => !/^(?:\.\/|your-org\/mcp-eval-ci(?:\/(?:merge|publish))?@)/.test(reference ?? ''),
    );
    const unpinned = references.filter(([line]) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
    expect(unpinned.map(([line]) => line)).toEqual([]);
  });
});

describe('the workflow that init writes', () => {
  const steps = [
    { ecosystem: 'node', run: 'npm ci' },
    { ecosystem: 'go', run: 'go build -o build/ ./...' },
  ] as const;

  it.each([
    { kind: 'command', command: `node "my server.js" --name 'a: b' # c` } as const,
    { kind: 'url', url: 'https://example.com/mcp?a=b#c' } as const,
    { kind: 'config', config: '.mcp.json#1' } as const,
  ])('is valid for a $kind, and hands it over as it is', async (server) => {
    const text = renderWorkflow({ server, steps, evals: 'evals/*.evals.yaml', surface: null });
    expect(await validator.validateWorkflow(text)).toEqual([]);
    const inputs = readWorkflow(text)['evals']?.steps.find(({ uses }) => uses?.startsWith('your-org/'))?.with;
    expect(inputs).toEqual({
      ...Object.fromEntries(listServerInputs(server)),
      evals: 'evals/*.evals.yaml',
      ...(server.kind === 'url' ? {} : { 'enable-sandbox': 'true' }),
    });
  });
});

describe('documents', () => {
  const blocks = listFiles(/\.md$/).flatMap((file) => listYamlBlocks(file, read(file)));

  it('hold examples', () => {
    expect(new Set(blocks.map(({ file }) => file))).toEqual(expect.objectContaining(new Set(['README.md'])));
    expect(blocks.length).toBeGreaterThan(5);
  });

  it.each(blocks.map((block) => ({ place: `${block.file}:${block.line}`, block })))(
    '$place is valid',
    async ({ block }) => {
      expect(await findProblems(block)).toEqual([]);
    },
  );
});

describe('evals files of the examples', () => {
  const files = listFiles(/\.evals\.ya?ml$/, ['examples']);

  it.each(files)('%s is valid', (file) => {
    expect(readSuite(read(file), { file }).findings).toEqual([]);
  });
});

describe('the validation', () => {
  const block = (text: string) => ({ file: 'x.md', line: 1, text });
  const step = (input: string) => `- uses: your-org/mcp-eval-ci@v1\n  with:\n    ${input}: x\n`;

  it('reports an input that action.yml does not declare', async () => {
    expect(await findProblems(block(step('evals')))).toEqual([]);
    expect(await findProblems(block(step('eval-files')))).toEqual([`line 8: Invalid action input 'eval-files'`]);
  });

  it('reports an input that merge/action.yml or publish/action.yml does not declare', async () => {
    const use = (folder: string, input: string) => step(input).replace('mcp-eval-ci@', `mcp-eval-ci/${folder}@`);
    expect(await findProblems(block(use('merge', 'reports')))).toEqual([]);
    expect(await findProblems(block(use('publish', 'report')))).toEqual([]);
    expect(await findProblems(block(use('merge', 'evals')))).toContain(`line 8: Invalid action input 'evals'`);
    expect(await findProblems(block(use('publish', 'reports')))).toContain(`line 8: Invalid action input 'reports'`);
  });

  it('reports it for the action of this repository as well', async () => {
    const local = step('eval-files').replace('your-org/mcp-eval-ci@v1', './');
    expect(await findProblems(block(local))).toEqual([`line 8: Invalid action input 'eval-files'`]);
  });

  it('reports an output that action.yml does not have', async () => {
    const print = (name: string) => `- run: echo "$RATE"\n  env:\n    RATE: \${{ steps.evals.outputs.${name} }}\n`;
    expect(listUnknownOutputs(print('pass-rate'))).toEqual([]);
    expect(listUnknownOutputs(print('passrate'))).toEqual(['passrate']);
  });

  it('reports a key that workflows do not have', async () => {
    const workflow = wrapSteps('- run: "true"\n');
    expect(await findProblems(block(workflow))).toEqual([]);
    expect(await findProblems(block(workflow.replace('runs-on', 'run-on')))).not.toEqual([]);
  });

  it('reports an evals file with an unknown key, and a block of no known kind', async () => {
    expect(await findProblems(block('suite: a\ncasess: []\ncases: []\n'))).not.toEqual([]);
    expect(await findProblems(block('some: thing\n'))).toHaveLength(1);
    expect(await findProblems(block('examples: []\n'))).not.toEqual([]);
  });

  it('finds blocks inside lists, with their line', () => {
    expect(listYamlBlocks('x.md', '1. Do\n\n   ```yaml\n   a:\n     b: 1\n   ```\n')).toEqual([
      { file: 'x.md', line: 4, text: 'a:\n  b: 1\n' },
    ]);
  });
});
