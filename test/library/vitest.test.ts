import { readFile, symlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listEvalTests } from '../../src/library/eval-tests.ts';
import { nameEvals } from '../../src/library/name-evals.ts';
import { judgeToolResult, openTestedServer } from '../../src/library/tested-server.ts';
import type { SurfaceFile } from '../../src/model/surface.ts';
import { bundleFiles } from '../support/bundle-files.ts';
import { entryDirectory } from '../support/process/bundled-command.ts';
import { runCommand } from '../support/process/command.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const evals = `suite: Counting
cases:
  - title: Counts to one
    steps: [toolCall: count, assert: { toolResultContains: '1' }]
  - title: Counts to five
    steps: [toolCall: count, assert: { toolResultEquals: 5 }]
  - title: Counts to six
    steps: [toolCall: count, assert: { toolResultEquals: 6 }]
  - title: Counts as before
    steps: [toolCall: count, assert: { toMatchFile: snapshots/count.json }]
`;

const tests = `import { describe, expect, it } from 'vitest';
import { createServerTest, describeEvals } from 'mcp-eval-ci/vitest';

const options = { serverCommand: ${JSON.stringify(plainServerCommand)} };
describeEvals('counting.evals.yaml', {
  ...options,
  runs: 2,
  policy: { quarantine: [{ suite: 'Counting', case: 'Counts to six', owner: '@a', reason: 'Not yet.', expires: '2099-12-31' }] },
});
describeEvals(
  { suite: 'As a value', cases: [{ title: 'Counts', steps: [{ toolCall: 'count' }] }] },
  { ...options, policy: { minimumCoverage: { tools: '100%' } } },
);

const withServer = createServerTest(options);
describe('the server', () => {
  withServer('counts', async ({ server }) => {
    const result = await server.callTool('count');
    await expect(result).toHaveToolResult('1');
    await expect(result).not.toHaveToolResult({ toolResultEquals: 2 });
    await expect(await server.callTool('no-such-tool')).toHaveToolResult({ toolResultIsError: true });
  });
  withServer('starts anew for each test', async ({ server }) => {
    await expect(await server.callTool('count')).toHaveToolResult({ toolResultEquals: 1 });
  });
  withServer('has another result', async ({ server }) => {
    await expect(await server.callTool('count')).toHaveToolResult({ toolResultEquals: 2 });
  });
  withServer('gets no assertion', async ({ server }) => {
    await expect(await server.callTool('count')).toHaveToolResult({ toolResultEqual: 2 });
  });
  withServer('shows another surface', async ({ server }) => {
    await expect(server).toMatchSurface();
  });
});
`;

const brokenTests = `import { describeEvals } from 'mcp-eval-ci/vitest';

describeEvals(['missing.evals.yaml'], { serverCommand: 'node server.js' });
`;

/** The entry in few files, because vitest transforms each file of a project's sources. */
const bundled = `${entryDirectory}/library/vitest.js`;

interface Assertion {
  fullName: string;
  status: string;
  failureMessages: string[];
}

/** Runs a real vitest in a project and returns its results by the names of the tests. */
async function runVitest(directory: string, args: readonly string[] = []) {
  const entry = `${root}node_modules/vitest/vitest.mjs`;
  const flags = [
    'run',
    '--reporter=default',
    '--reporter=json',
    '--outputFile=out.json',
    '--no-isolate',
    '--pool=threads',
  ];
  const { exitCode, stderr } = await runCommand([...flags, ...args], { cwd: directory, entry });
  const text = await readFile(`${directory}/out.json`, 'utf8').catch(() => {
    throw new Error(stderr);
  });
  const { testResults } = JSON.parse(text) as {
    testResults: Array<{ message: string; assertionResults: Assertion[] }>;
  };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    exitCode,
    stderr,
    messages: testResults.map(({ message }) => message).join('\n'),
    tests: new Map(
      tests.map(({ fullName, status, failureMessages }) => [
        fullName,
        // The frames of an error lie in this project and in vitest, except that of the evals file.
        [
          status,
          ...failureMessages.map((text) =>
            text.replaceAll(/\n {4}at (?!.*\.yaml).*/g, '').replaceAll(directory, '<project>'),
          ),
        ],
      ]),
    ),
  };
}

describe('listEvalTests', () => {
  const options = { serverCommand: plainServerCommand };

  it.each([
    [undefined, options, 'evals: is missing; give paths or globs of evals files, or one suite as a value'],
    [null, options, 'evals: cannot be null; give paths'],
    [['a.yaml', 5], options, 'evals: cannot be a list; give paths'],
    [{ casess: [] }, options, 'evals:1:1: The key `suite` is missing'],
    ['a.yaml', undefined, 'options: are missing; give an object'],
    ['a.yaml', { ...options, tags: ['a'] }, 'tags: is what the test runner decides'],
  ])('refuses what is no evals or options: %j %j', async (evals, given, message) => {
    expect(() => nameEvals(evals as never)).not.toThrow();
    await expect(listEvalTests(evals as never, given as never)).rejects.toThrow(message);
  });

  it('names the command of the test runner that writes a snapshot', async () => {
    const steps = [{ toolCall: 'count' }, { assert: { toMatchFile: 'snapshots/no.json' } }];
    await using workspace = await createWorkspace({
      'a.evals.yaml': JSON.stringify({ suite: 'A', cases: [{ title: 'B', steps }] }),
    });
    const [tests] = await listEvalTests('a.evals.yaml', { ...options, cwd: workspace.path });
    const ids = tests?.cases.map(({ id }) => id) ?? [];
    await expect(tests?.run(ids, { updateCommand: 'vitest -u' })).rejects.toThrow(
      'does not exist; write it with `vitest -u`',
    );
  });
});

describe('judgeToolResult', () => {
  it('throws if nothing is measured, so that `not` does not pass', async () => {
    await using server = await openTestedServer({ serverCommand: plainServerCommand });
    const result = await server.callTool('count');
    expect(await judgeToolResult(result, '1')).toMatchObject({ pass: true });
    expect(await judgeToolResult(result, '2')).toMatchObject({ pass: false });
    const judge = { judge: 'It counts.', model: 'anthropic/claude-haiku-4-5' };
    await expect(judgeToolResult(result, judge)).rejects.toThrow('judge: not measured');
    for (const other of [undefined, 5, Promise.resolve(result)]) {
      const judging = judgeToolResult(other as never, '1');
      await expect(judging).rejects.toThrow('is not the result of `server.callTool`, which has to be awaited');
    }
  });
});

describe('the entry for vitest', () => {
  it('makes a test of each case, with matchers and a fixture for a server, and updates with -u', async () => {
    await bundleFiles(`${root}src/entries/vitest.ts`, bundled, { external: ['vitest'] });
    const surface = {
      capabilities: {},
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    };
    await using workspace = await createWorkspace({
      'counting.evals.yaml': evals,
      'snapshots/count.json': '"before"\n',
      'counting.test.js': tests,
      'broken.test.js': brokenTests,
      'surface.json': JSON.stringify({ version: 1, configurations: { default: surface, other: surface } }),
      'vitest.config.mjs': `export default {
  resolve: { alias: { 'mcp-eval-ci/vitest': ${JSON.stringify(bundled)} } },
};
`,
    });
    await symlink(`${root}node_modules`, `${workspace.path}/node_modules`);

    const first = await runVitest(workspace.path);
    expect(first.exitCode).toBe(1);
    expect(first.messages).toMatchInlineSnapshot(`
      "evals: No file matches "missing.evals.yaml"; patterns are relative to the working directory, such as evals/*.evals.yaml (no-files)
      "
    `);
    expect(Object.fromEntries(first.tests)).toMatchInlineSnapshot(`
      {
        "As a value Counts": [
          "passed",
        ],
        "counting.evals.yaml Counting Counts as before": [
          "failed",
          "EvalFailure: Iterations 1, 2, step 2 (assert)
        toMatchFile: the result of count is 1, expected "before" (snapshots/count.json). If the change is meant, run \`vitest -u\`.
        called    count({})
        the result of count, compared with snapshots/count.json (- expected, + actual):
        - "before"
        + 1
          at <project>/counting.evals.yaml:9:5",
        ],
        "counting.evals.yaml Counting Counts to five": [
          "failed",
          "EvalFailure: Iterations 1, 2, step 2 (assert)
        toolResultEquals: the result of count is 1, expected 5.
        called    count({})
        the result of count (- expected, + actual):
        - 5
        + 1
          at <project>/counting.evals.yaml:5:5",
        ],
        "counting.evals.yaml Counting Counts to one": [
          "passed",
        ],
        "counting.evals.yaml Counting Counts to six": [
          "skipped",
        ],
        "the server counts": [
          "passed",
        ],
        "the server gets no assertion": [
          "failed",
          "TypeError: {"toolResultEqual":2} is no assertion of an evals file, such as { toolResultContains: "text" }",
        ],
        "the server has another result": [
          "failed",
          "Error: toolResultEquals: the result of count is 1, expected 2.",
        ],
        "the server shows another surface": [
          "failed",
          "Error: The server does not show what surface.json says. If the change is meant, run vitest with -u.
        additive: The capability tools was added
        additive: The tool argv was added
        additive: The tool count was added
        additive: The tool crash was added
        additive: The tool echo was added
        additive: The tool environment was added
        additive: The tool hang was added
        additive: The tool held was added
        additive: The tool hold was added
        additive: The tool leave was added
        additive: The tool pid was added
        additive: The tool release was added
        additive: The tool spin was added",
        ],
        "the server starts anew for each test": [
          "passed",
        ],
      }
    `);
    expect(first.stderr).toContain('The gate is failed.');

    const second = await runVitest(workspace.path, ['-u', '-t', 'as before|surface']);
    const states = [...second.tests].map(([name, [state]]) => `${name}: ${state}`);
    expect(states.filter((line) => !line.endsWith('skipped'))).toMatchInlineSnapshot(`
      [
        "counting.evals.yaml Counting Counts as before: passed",
        "the server shows another surface: passed",
      ]
    `);
    expect(await workspace.read('snapshots/count.json')).toBe('1\n');
    const { configurations } = JSON.parse(await workspace.read('surface.json')) as SurfaceFile;
    expect(configurations['other']).toEqual(surface);
    expect(configurations['default']?.tools.map(({ name }) => name)).toContain('count');
  });
});
