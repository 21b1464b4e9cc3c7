import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundleFiles } from '../support/bundle-files.ts';
import { entryDirectory } from '../support/process/bundled-command.ts';
import { runCommand } from '../support/process/command.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const bundled = `${entryDirectory}/library/node-test.js`;

describe('the entry for node:test', () => {
  it('makes a test of each case, and fails a suite whose gate fails', async () => {
    await bundleFiles(fileURLToPath(new URL('../../src/entries/node-test.ts', import.meta.url)), bundled);
    await using workspace = await createWorkspace({
      'counting.evals.yaml': `suite: Counting
cases:
  - title: Counts to one
    steps: [toolCall: count, assert: { toolResultContains: '1' }]
  - title: Counts to five
    steps: [toolCall: count, assert: { toolResultEquals: 5 }]
  - title: Counts as before
    steps: [toolCall: count, assert: { toMatchFile: snapshots/count.json }]
`,
      'counting.test.mjs': `import { describeEvals } from ${JSON.stringify(bundled)};

const options = { serverCommand: ${JSON.stringify(plainServerCommand)} };
describeEvals('counting.evals.yaml', options);
describeEvals(
  { suite: 'As a value', cases: [{ title: 'Counts', steps: [{ toolCall: 'count' }] }] },
  { ...options, policy: { minimumCoverage: { tools: '100%' } } },
);
describeEvals('missing.evals.yaml', options);
`,
    });
    const flags = ['--test-reporter=tap', '--test-update-snapshots', 'counting.test.mjs'];
    const { exitCode, stdout } = await runCommand(flags, { cwd: workspace.path, entry: '--test' });
    expect(exitCode).toBe(1);
    const said = stdout
      .replaceAll(workspace.path, '<project>')
      .match(/^ *(?:not )?ok .*|error: '.*'|  toolResult.*|<project>.*/gm);
    expect(said).toMatchInlineSnapshot(`
      [
        "        ok 1 - Counts to one",
        "        not ok 2 - Counts to five",
        "  toolResultEquals: the result of count is 1, expected 5.",
        "<project>/counting.evals.yaml:5:5",
        "        ok 3 - Counts as before",
        "    not ok 1 - Counting",
        "error: '1 subtest failed'",
        "not ok 1 - counting.evals.yaml",
        "error: '1 subtest failed'",
        "    ok 1 - Counts",
        "not ok 2 - As a value",
        "error: 'The gate is failed. The evals cover 1 of 12 tools (8.3%); minimumCoverage.tools is 100% (from policy.minimumCoverage.tools). Not covered: argv, crash, echo, environment, hang and 6 more.'",
        "not ok 3 - missing.evals.yaml",
        "error: 'evals: No file matches "missing.evals.yaml"; patterns are relative to the working directory, such as evals/*.evals.yaml (no-files)'",
      ]
    `);
    expect(await workspace.read('snapshots/count.json')).toBe('1\n');
  });
});
