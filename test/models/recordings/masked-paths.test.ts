import { expect, it } from 'vitest';
import type { ModelAnswer, ModelCall, TextMask } from '../../../src/models/language-model.ts';
import { printRecording } from '../../../src/models/recordings/format.ts';
import { mergeRecording } from '../../../src/models/recordings/recorded-answer.ts';
import { hidePaths, showPaths } from '../../../src/workspace/placeholders.ts';
import {
  answerPurely,
  reread,
  converse,
  createRequest,
  createScenario,
  createScriptedSource,
  createSource,
  providerPackage,
  type Scenario,
} from './conversation.ts';

const createMask = (workspace: string): TextMask => ({
  hide: (value) => hidePaths(value, { workspace }),
  show: (value) => showPaths(value, { workspace }),
});

/** A conversation whose tool result has the path, as have the arguments of the model's call. */
function createPathScenario(workspace: string): Scenario {
  return createScenario({ outputs: { read_note: { type: 'text', value: `${workspace}/milk.txt` } } });
}

function answerWithPath(workspace: string) {
  return (call: ModelCall): ModelAnswer => {
    const answer = answerPurely(createPathScenario(workspace), call);
    const content = answer.content.map((part) =>
      part.type === 'tool-call' ? { ...part, input: JSON.stringify({ path: `${workspace}/milk.txt` }) } : part,
    );
    return { ...answer, content };
  };
}

it('replays a recording of another workspace, with the paths of the present one', async () => {
  const [then, now] = ['/tmp/first/workspace', '/tmp/the-second/workspace'];
  const recorded = createPathScenario(then);
  const live = createScriptedSource(recorded, answerWithPath(then));
  const { source, recorder } = createSource({ mode: 'record', live });
  await converse(await source.openSession({ ...createRequest(recorded.model), mask: createMask(then) }), recorded);
  const [collected] = recorder.list();
  if (collected === undefined) throw new Error('Nothing was recorded.');
  const made = mergeRecording(null, collected, providerPackage);
  const text = printRecording(made);
  expect(text).not.toContain(then);
  expect(text).toContain('{{workspace}}/milk.txt');

  const replay = createSource({ mode: 'replay', recording: reread(made) }).source;
  const session = await replay.openSession({ ...createRequest(recorded.model), mask: createMask(now) });
  const exchanges = await converse(session, createPathScenario(now));
  expect(exchanges).toHaveLength(2);
  expect(JSON.stringify(exchanges)).toContain(`${now}/milk.txt`);
  expect(JSON.stringify(exchanges)).not.toContain(then);
});
