import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { countDraws } from '../support/property-runs.ts';
import { everythingServerPath, filesystemServerPath, memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

/** The number of gates is 12 in `npm run test:soak`. */
const gates = countDraws(12);

/** Real servers: one without state, one over a folder, one over a file. Cases see the changes of earlier ones. */
const servers = {
  everything: {
    command: `${process.execPath} ${everythingServerPath}`,
    rule: 'read-only',
    evals: `suite: Everything
cases:
  - title: Echoes
    steps: [{ toolCall: echo, arguments: { message: hello } }, { assert: { toolResultContains: hello } }]
  - title: Adds
    steps: [{ toolCall: get-sum, arguments: { a: 2, b: 3 } }, { assert: { toolResultContains: '5' } }]
`,
  },
  filesystem: {
    command: `${process.execPath} ${filesystemServerPath} .`,
    rule: 'not-read-only',
    evals: `suite: Filesystem
cases:
  - title: Writes a file
    steps: [{ toolCall: write_file, arguments: { path: a.txt, content: one } }]
  - title: Reads what was written
    steps: [{ toolCall: read_text_file, arguments: { path: a.txt } }, { assert: { toolResultContains: one } }]
`,
  },
  memory: {
    command: `${process.execPath} ${memoryServerPath}`,
    rule: 'not-read-only',
    evals: `suite: Memory
cases:
  - title: Creates an entity
    steps:
      - toolCall: create_entities
        arguments: { entities: [{ name: ada, entityType: person, observations: [] }] }
  - title: Reads what was created
    steps: [{ toolCall: read_graph }, { assert: { toolResultContains: ada } }]
`,
  },
};

describe('gates that differ in nothing but their timing', () => {
  it.each(Object.entries(servers))('have one verdict on server-%s', async (_, server) => {
    const verdicts: unknown[] = [];
    for (let i = 0; i < gates; i += 1) {
      await using workspace = await createWorkspace({ 'a.evals.yaml': server.evals });
      const { report } = await runEmbeddedGate(workspace, {
        'server-command': server.command,
        'server-cwd': workspace.path,
        'server-env': `MEMORY_FILE_PATH=${join(workspace.path, 'memory.jsonl')}`,
        isolation: 'iteration',
      });
      verdicts.push([report.verdict.outcome, report.totals.passed, report.suites[0]?.concurrency?.rule]);
    }
    expect(verdicts).toEqual(Array.from({ length: gates }, () => ['passed', 2, server.rule]));
  });
});
