import { ProtocolError } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { checkUpdate, createLiteralLog } from '../../src/cli/update.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const file = 'notes.evals.yaml';

let calls = 0;
const tools: Record<string, FixtureTool> = {
  sum: { call: () => ({ content: [], structuredContent: { sum: 6, parts: [2, 4] } }) },
  greet: { call: () => text('Hello, you') },
  count: { call: () => text(`call ${(calls += 1)}`) },
  key: { call: () => text('sesame-4711') },
  break: { call: () => ({ ...text('broken'), isError: true }) },
  refuse: { call: () => ({ ...text('No note named x at 2026-01-02 10:20'), isError: true }) },
  list: {
    call: () =>
      text(`Notes of 2026-03-04\n${Array.from({ length: 9 }, (_, at) => `- note ${at}`).join('\n')}\n9 notes in all`),
  },
  stamp: { call: () => text('2026-05-06') },
  echo: { call: ({ args }) => text(String(args['text'])) },
};

/** Runs a gate with the log, and then writes what it says; `lines` is what a person sees. */
async function update(workspace: Workspace, secrets: readonly string[] = []) {
  await using server = await startFixtureMcpServer(tools, {
    era: 'legacy',
    capabilities: { tools: {}, resources: {}, prompts: {} },
    prepare: (offered) => {
      offered.setRequestHandler('resources/read', ({ params: { uri } }) => {
        if (uri === 'note://gone') throw new ProtocolError(-32050, 'No note with this name');
        return { contents: [{ uri, text: `${uri} says hello\n` }] };
      });
      offered.setRequestHandler('prompts/get', () => ({
        messages: [{ role: 'user', content: { type: 'text', text: 'Write a short note.' } }],
      }));
    },
  });
  const log = createLiteralLog();
  const inputs = { 'server-command': '', 'server-url': server.url, isolation: '' };
  const { report } = await runEmbeddedGate(workspace, inputs, { watchEvidence: log.watch });
  const redactor = createRedactor();
  for (const value of secrets) redactor.add(new Secret(value));
  const lines: string[] = [];
  const changed = await log.update({
    cwd: workspace.path,
    print: (line) => void lines.push(line),
    redactor,
    color: false,
  });
  return { outcome: report.verdict.outcome, lines, changed, text: await workspace.read(file) };
}

const evals = `# What the notes do.
suite: notes
cases:
  - title: Sum # of two
    steps:
      - toolCall: sum
      - assert: { toolResultEquals: 5, path: /sum } # was five
      - assert:
          toolResultEquals:
            # both parts
            - 2 # the first
            - 3 # the second
          path: /parts
  - title: Greet
    steps:
      - toolCall: greet
      - assert: { toolResultEquals: 'Hello' }
`;

describe('run --update', () => {
  it('changes the values that failed alone, nothing the second time, and the run after it passes', async () => {
    await using workspace = await createWorkspace({ [file]: evals });
    const first = await update(workspace);
    expect([first.outcome, first.changed]).toEqual(['failed', 3]);
    expect(first.text).toBe(
      evals
        .replace('toolResultEquals: 5', 'toolResultEquals: 6')
        .replace('- 3 #', '- 4 #')
        .replace("'Hello'", "'Hello, you'"),
    );
    expect(first.lines).toEqual([
      `${file}:7`,
      '-       - assert: { toolResultEquals: 5, path: /sum } # was five',
      '+       - assert: { toolResultEquals: 6, path: /sum } # was five',
      `${file}:12`,
      '-             - 3 # the second',
      '+             - 4 # the second',
      `${file}:17`,
      "-       - assert: { toolResultEquals: 'Hello' }",
      "+       - assert: { toolResultEquals: 'Hello, you' }",
      'Changed 3 expected values. Check the difference, and run again to judge.',
    ]);
    const second = await update(workspace);
    expect(second).toEqual({ outcome: 'passed', changed: 0, lines: ['No expected value changed.'], text: first.text });
  });

  it('renews what init writes: contained texts, errors and snapshots, and nothing volatile', async () => {
    const before = `suite: notes
cases:
  - title: Greet
    steps:
      - toolCall: greet
      - assert: { toolResultContains: Good morning } # polite
  - title: List
    steps:
      - toolCall: list
      - assert:
          # How many.
          toolResultContains: 8 notes in all
  - title: Refuse
    steps:
      - toolCall: refuse
      - assert: { toolError: { contains: There is no note } }
`;
    await using workspace = await createWorkspace({ [file]: before });
    const first = await update(workspace);
    expect([first.outcome, first.changed]).toEqual(['failed', 3]);
    expect(first.text).toBe(
      before
        .replace('Good morning', 'Hello, you'.replace(/.*/, '"Hello, you"'))
        .replace('8 notes in all', '"9 notes in all"')
        .replace('There is no note', 'No note named x at'),
    );
    expect(await update(workspace)).toMatchObject({ outcome: 'passed', changed: 0, text: first.text });
  });

  it('renews texts of resources and prompts, and errors of their requests', async () => {
    const before = `suite: notes
cases:
  - title: Read
    steps:
      - listTools: true
      - ping: true
      - toolCall: greet
      - readResource: note://a
      - readResource: note://b
      - assert: { resourceContains: 'a says good morning', uri: note://a }
      - assert: { resourceContains: b says good morning }
      - assert: { resourceContains: says hello, uri: note://a }
  - title: Ask
    steps:
      - getPrompt: short
      - assert: { promptContains: Write a long note }
  - title: Refuse
    steps:
      - readResource: note://gone
      - assert: { requestError: { code: -32602, contains: There is no note } }
`;
    await using workspace = await createWorkspace({ [file]: before });
    const first = await update(workspace);
    expect([first.outcome, first.changed, first.lines.at(-1)]).toEqual([
      'failed',
      4,
      'Changed 4 expected values. Check the difference, and run again to judge.',
    ]);
    expect(first.text).toBe(
      before
        .replace("'a says good morning'", "'note://a says hello'")
        .replace('b says good morning', '"note://b says hello"')
        .replace('Write a long note', '"Write a short note."')
        .replace('-32602, contains: There is no note', '-32050, contains: No note with this name'),
    );
    expect(await update(workspace)).toMatchObject({ outcome: 'passed', changed: 0, text: first.text });
  });

  it.each<[string, string, RegExp, string[]]>([
    [
      'a prompt that is no longer refused',
      '    steps:\n      - getPrompt: short\n      - assert: { requestError: { contains: name } }\n',
      /kept, C: prompt short no longer answers with an error/,
      [],
    ],
    [
      'a result that reads as a time',
      '    steps:\n      - toolCall: stamp\n      - assert: { toolResultEquals: never }\n',
      /kept, C: the result has a part that reads as a time/,
      [],
    ],
    [
      'a text that is only a time',
      '    steps:\n      - toolCall: stamp\n      - assert: { toolResultContains: never }\n',
      /kept, C: the result has no stable text/,
      [],
    ],
    [
      'a call that is no longer refused',
      '    steps:\n      - toolCall: greet\n      - assert: { toolError: { contains: name } }\n',
      /kept, C: greet no longer answers with an error/,
      [],
    ],
    [
      'a placeholder',
      '    steps:\n      - toolCall: echo\n        arguments: { text: "{{uuid}}" }\n      - assert: { toolResultEquals: "{{iteration}}" }\n',
      /kept, C: the assertion has a placeholder/,
      [],
    ],
    [
      'an error of the tool',
      '    steps:\n      - toolCall: break\n      - assert: { toolResultEquals: fine }\n',
      /kept, C: break answered with an error/,
      [],
    ],
    [
      'results that differ',
      '    runs: 2\n    steps:\n      - toolCall: count\n      - assert: { toolResultEquals: none }\n',
      /kept, C: iterations or rows got different values/,
      [],
    ],
    [
      'rows of which one passes',
      '    each:\n      - { n: a }\n      - { n: b }\n    steps:\n      - toolCall: echo\n        arguments: { text: "{{n}}" }\n      - assert: { toolResultEquals: a }\n',
      /kept, .*: it held in another iteration or row/,
      [],
    ],
    [
      'a secret',
      '    steps:\n      - toolCall: key\n      - assert: { toolResultEquals: none }\n',
      /kept, C: the result has a part that is a known secret/,
      ['sesame-4711'],
    ],
    [
      'a part that is gone',
      '    steps:\n      - toolCall: sum\n      - assert: { toolResultEquals: 1, path: /total }\n',
      /kept, C: .*does not exist/,
      [],
    ],
  ])('keeps a value with %s, and says why', async (_what, steps, reason, secrets) => {
    const title = steps.includes('each:') ? '"C {{n}}"' : 'C';
    const before = `suite: notes\ncases:\n  - title: ${title}\n${steps}`;
    await using workspace = await createWorkspace({ [file]: before });
    const { outcome, changed, lines, text: after } = await update(workspace, secrets);
    expect([outcome, changed, after]).toEqual(['failed', 0, before]);
    expect(lines[0]).toMatch(reason);
    expect(lines.join()).not.toContain('sesame');
  });

  it.each([
    ['true', false, /update-in-ci/],
    ['', true, /update-and-watch/],
  ])('is refused where CI is %j and it watches: %s', (ci, isWatching, code) => {
    expect(() => checkUpdate({ CI: ci }, isWatching)).toThrow(code);
    expect(() => checkUpdate({ CI: 'false' }, false)).not.toThrow();
  });

  it('refuses CI before anything starts, with exit code 2', async () => {
    await using workspace = await createWorkspace({ [file]: evals });
    const args = ['run', '--update', '--server-command', 'node missing.js', file];
    const result = await runProgramInTest(args, { cwd: workspace.path, env: { CI: 'true' } });
    expect(result).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('it is not for CI') });
  });
});
