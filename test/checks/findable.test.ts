import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { TestCase } from '../../src/cases/case.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;

beforeAll(async () => {
  const call = () => text('done');
  server = await startFixtureMcpServer({
    create_note: {
      description: 'Creates a note.',
      inputSchema: { type: 'object', properties: { folder: { type: 'string' } } },
      call,
    },
    read_note: { description: 'Reads a note.', call },
    refresh: { description: 'Loads the notes of the view.', visibility: ['app'], call },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Reads a suite of one case, and runs it as the gate does. */
async function run(assertion: string, settings = ''): Promise<{ result: unknown; error: unknown; status: unknown }> {
  const file = `suite: a\n${settings}\ncases: [{ title: b, steps: [{ assert: ${assertion} }] }]`;
  const { suite, findings } = readSuite(file, { file: 'a' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  const [testCase] = compileSuite(suite, { dialect: 'embedded' });
  if (testCase === undefined) throw new Error('The suite has no case.');
  return await runCompiled(testCase);
}

async function runCompiled(testCase: TestCase) {
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  const { status, result, error } = await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
  return { status, result, error };
}

const decoys = `decoys: [${['copy', 'move', 'share'].map((verb) => `{ name: ${verb}_note, description: 'note note' }`).join(', ')}]`;

describe('findable', () => {
  it('passes on a tool that the search finds by name, description or parameter', async () => {
    for (const words of ['make and create notes', 'folders']) {
      expect(await run(`{ findable: ${words}, toolName: create_note }`)).toMatchObject({ result: 'passed' });
    }
  });

  it('fails on a tool that has none of the words', async () => {
    expect(await run('{ findable: jot something down, toolName: create_note }')).toMatchObject({
      result: 'failed',
      error:
        'findable: create_note has none of the words in a search of 2 tools for "jot something down", in its name, description or parameters.',
    });
  });

  it('searches the decoys of the case as well, and stops at `top`', async () => {
    const check = '{ findable: note, toolName: create_note, top: 2 }';
    expect(await run(check)).toMatchObject({ result: 'passed' });
    expect(await run(check, decoys)).toMatchObject({
      result: 'failed',
      error:
        'findable: create_note is number 5 in a search of 5 tools for "note", expected among the first 2; before it: copy_note, move_note, share_note, read_note.',
    });
    expect(await run('{ findable: note, toolName: create_note }', decoys)).toMatchObject({ result: 'passed' });
  });

  it('returns 8 tools by default', async () => {
    const many = Array.from({ length: 8 }, (_, index) => `{ name: note_${index}, description: note note note }`);
    const outcome = await run('{ findable: note, toolName: read_note }', `decoys: [${many.join(', ')}]`);
    expect(outcome.error).toMatch(/^findable: read_note is number 9 in a search of 10 tools .* among the first 8;/);
  });

  it.each([
    ['gone', 'findable: The server lists no tool "gone"; it lists "create_note", "read_note", "refresh".'],
    ['refresh', 'findable: Models are not offered the tool "refresh".'],
  ])('fails on a tool that no search may find: %s', async (toolName, error) => {
    expect(await run(`{ findable: notes, toolName: ${toolName} }`)).toMatchObject({ result: 'failed', error });
  });

  it('does not search a tool that the policy of the case denies', async () => {
    expect(await run('{ findable: note, toolName: read_note }', 'toolPolicy: { deny: [read_note] }')).toMatchObject({
      result: 'failed',
      error: 'findable: Models are not offered the tool "read_note".',
    });
  });

  it('can be negated: a tool that is found too easily', async () => {
    const negated = (toolName: string) =>
      `{ not: { type: findable, words: notes in folders, toolName: ${toolName}, top: 1 } }`;
    expect(await run(negated('read_note'))).toMatchObject({ result: 'passed' });
    expect(await run(negated('create_note'))).toMatchObject({ result: 'failed' });
  });

  it('is not measured without a session', async () => {
    const check = { type: 'findable', toolName: 'a', words: 'b' };
    expect(await judgeAssertion(check, createEvidence())).toMatchObject({ state: 'unmeasured' });
  });

  it('does not put decoys into cases without it and without a prompt', () => {
    const { suite } = readSuite(`suite: a\n${decoys}\ncases: [{ title: b, steps: [{ toolCall: c }] }]`, { file: 'a' });
    if (suite === null) throw new Error('The suite cannot be read.');
    expect(compileSuite(suite, { dialect: 'embedded' })[0]?.advancedConfig).not.toHaveProperty('decoys');
  });
});
