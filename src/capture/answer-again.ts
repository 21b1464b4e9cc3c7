import { pathToFileURL } from 'node:url';
import { isRecord, type JsonObject } from '../base/json.ts';
import type { AskedRequest } from '../explore/exploration.ts';
import type { AnswerClient } from '../explore/world/connection.ts';
import { readAskedAbility } from '../mcp/abilities.ts';
import type { ElicitationAnswer, SamplingAnswer } from '../model/client-abilities.ts';
import { showPaths } from '../workspace/placeholders.ts';
import { readQuestion } from './session.ts';

type Answered = Exclude<AskedRequest, { ability: 'roots' }>;

/**
 * Creates the answers that the client gave in a session: to the same question, the same answers in their order. A question that nothing
 * in the session answered is refused.
 */
export function createRecordedAnswers(recorded: readonly AskedRequest[], paths: { workspace: string }): AnswerClient {
  const answers = recorded.filter((asked): asked is Answered => asked.ability !== 'roots');
  const given = new Map<string, number>();
  return (method, params) => {
    const ability = readAskedAbility(method);
    if (ability === null) return null;
    if (ability === 'roots') {
      return { result: { roots: [{ uri: pathToFileURL(paths.workspace).href }] }, asked: { ability } };
    }
    const message = readQuestion(params);
    const same = answers.filter((each) => each.ability === ability && each.message === message);
    const fitting = same.length > 0 ? same : answers.filter((each) => each.ability === ability);
    const key = `${ability} ${same.length > 0 ? message : ''}`;
    const count = given.get(key) ?? 0;
    given.set(key, count + 1);
    const answer = fitting[count % fitting.length];
    if (answer === undefined) return null;
    const shown = showPaths(answer, paths);
    const result = shown.ability === 'elicitation' ? toElicited(shown.answer, params) : toSampled(shown.answer);
    return { result, asked: { ...answer, message } };
  };
}

function toElicited(answer: ElicitationAnswer, asked: unknown): JsonObject {
  if (typeof answer === 'string') return { action: answer };
  if (!('accept' in answer)) return { action: 'decline' in answer ? 'decline' : 'cancel' };
  const { accept } = answer;
  if (accept === true) return { action: 'accept' };
  // Some servers print the fields in the order in which they come.
  const defaults = Object.entries(listDefaults(asked)).filter(([name]) => !Object.hasOwn(accept, name));
  return { action: 'accept', content: { ...accept, ...Object.fromEntries(defaults) } };
}

/** Lists the defaults of a form, which the client of the gate adds to the fields, and that of the session perhaps did not. */
function listDefaults(asked: unknown): JsonObject {
  const schema = isRecord(asked) ? asked['requestedSchema'] : null;
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      isRecord(property) && property['default'] !== undefined ? [[name, property['default']]] : [],
    ),
  );
}

function toSampled(answer: SamplingAnswer): JsonObject {
  const shared = { role: 'assistant', model: 'recorded' };
  if ('text' in answer) return { ...shared, content: { type: 'text', text: answer.text }, stopReason: 'endTurn' };
  if ('image' in answer) {
    const { image: data, mimeType } = answer;
    return { ...shared, content: { type: 'image', data, mimeType }, stopReason: 'endTurn' };
  }
  const calls = [answer.toolUse].flat();
  const content = calls.map(({ name, input = {} }, index) => ({
    type: 'tool_use',
    id: `call-${index + 1}`,
    name,
    input,
  }));
  return { ...shared, content, stopReason: 'toolUse' };
}
