import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { answerAsScripted } from '../../bench/hosts/suites/model.ts';
import { profileIds, writtenVerdicts } from '../../bench/hosts/suites/verdicts.ts';

const prompt = 'Call echo with {"message":"hi"}. Look for "Echo: hi".';
const user = { role: 'user', content: [{ type: 'text', text: prompt }] };
const called = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'mcp__server__echo', input: {} }] };
const shown = [{ name: 'Read' }, { name: 'mcp__server__echo' }];

function ask(tools: object[], ...messages: object[]) {
  const body = { tools, messages: [user, ...messages] };
  return answerAsScripted({ number: 1, turn: 1, userText: '', path: '', headers: {}, body });
}

const say = (text: string) => ({ role: 'user', content: [{ type: 'tool_result', content: text }] });

describe('the scripted model of the suites', () => {
  it('calls the tool under the name that it is shown', () => {
    const call = { arguments: { message: 'hi' } };
    expect(ask(shown)).toEqual({ toolCalls: [{ name: 'mcp__server__echo', ...call }] });
    expect(ask([{ type: 'function', function: { name: 'server__echo' } }])).toEqual({
      toolCalls: [{ name: 'server__echo', ...call }],
    });
    expect(ask([{ type: 'namespace', name: 'mcp__server', tools: [{ name: 'echo' }] }])).toEqual({
      toolCalls: [{ name: 'echo', namespace: 'mcp__server', ...call }],
    });
    expect(ask([{ functionDeclarations: [{ name: 'read_file' }, { name: 'mcp_server_echo' }] }])).toEqual({
      toolCalls: [{ name: 'mcp_server_echo', ...call }],
    });
  });

  it('searches a tool once that it is not shown', () => {
    const search = [{ name: 'ToolSearch' }];
    expect(ask(search)).toEqual({ toolCalls: [{ name: 'ToolSearch', arguments: { query: 'echo' } }] });
    expect(ask(search, { role: 'assistant', content: [] })).toEqual({ text: 'There is no tool echo.' });
  });

  it('says if it is shown the text, and does not count its own prompt', () => {
    expect(ask(shown, called, say('Echo: hi'))).toEqual({ text: 'I see Echo: hi.' });
    expect(ask(shown, called, say('Nothing.'))).toEqual({ text: 'I do not see Echo: hi.' });
  });
});

describe.each(['everything', 'filesystem', 'memory'])('the suite of server-%s', (suite) => {
  const written = writtenVerdicts.filter((verdict) => verdict.suite === suite);

  it('has a written verdict for each case', async () => {
    const text = await readFile(new URL(`../../bench/hosts/suites/${suite}.evals.yaml`, import.meta.url), 'utf8');
    const ids = [...text.matchAll(/^ {2}- id: (.+)$/gm)].map(([, id]) => id);
    expect(written.map(({ id }) => id)).toEqual(ids);
  });

  it('has a case that fails in one profile and passes in another', () => {
    const failing = written.map(({ fails }) => profileIds.filter((id) => fails[id] !== undefined).length);
    expect(failing.some((count) => count > 0 && count < profileIds.length)).toBe(true);
  });
});
