import { pathToFileURL } from 'node:url';
import { isRecord, type JsonObject, listRecords } from '../../base/json.ts';
import { readAskedAbility } from '../../mcp/abilities.ts';
import type { PlacePaths } from '../../workspace/place.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { listProperties } from '../schema/parameters.ts';
import { resolveSchema } from '../schema/resolve.ts';
import { listValues, type Vocabulary } from '../vocabulary/vocabulary.ts';
import type { AnswerClient } from './connection.ts';

/** The answer of a model that does not exist. */
const sampledText = 'alpha beta';

/** Creates the answers of a user who fills in each form, of a model that says the same each time, and the workspace as the only root. */
export function createClientAnswers(workspace: Workspace, paths: Pick<PlacePaths, 'workspace'>): AnswerClient {
  const vocabulary: Vocabulary = { workspace, resources: [], learned: [], ofSession: [] };
  return (method, params) => {
    switch (readAskedAbility(method)) {
      case 'elicitation': {
        const message = readText(params['message']);
        if (params['mode'] === 'url') {
          return { result: { action: 'accept' }, asked: { ability: 'elicitation', message, answer: 'accept' } };
        }
        const content = fillForm(params['requestedSchema'], vocabulary);
        return {
          result: { action: 'accept', content },
          asked: { ability: 'elicitation', message, answer: { accept: content } },
        };
      }
      case 'sampling': {
        const message = readMessages(params['messages']);
        return {
          result: {
            role: 'assistant',
            model: 'scripted',
            content: { type: 'text', text: sampledText },
            stopReason: 'endTurn',
          },
          asked: { ability: 'sampling', message, answer: { text: sampledText } },
        };
      }
      case 'roots':
        return { result: { roots: [{ uri: pathToFileURL(paths.workspace).href }] }, asked: { ability: 'roots' } };
      default:
        return null;
    }
  };
}

type FormValue = string | number | boolean | string[];

/** Fills each field of a form with its first value. */
function fillForm(requestedSchema: unknown, vocabulary: Vocabulary): Record<string, FormValue> {
  const schema = isRecord(requestedSchema) ? requestedSchema : {};
  const tool = { name: 'answer', description: '', inputSchema: schema };
  const fields = listProperties(resolveSchema(schema, schema), schema).flatMap(
    ({ name, description, schema: own }): Array<[string, FormValue]> => {
      const slot = { name, description, tool, depth: 0 };
      const value = [...listChoices(own), ...listValues(own, slot, vocabulary)].find(isFormValue);
      return value === undefined ? [] : [[name, value]];
    },
  );
  return Object.fromEntries(fields);
}

/** Lists the values of a field that names each with a title: one of them, or a list with the first one. */
function listChoices({ oneOf, items }: JsonObject): unknown[] {
  const read = (choices: unknown) =>
    Array.isArray(choices) ? choices.filter(isRecord).flatMap((choice) => choice['const'] ?? []) : [];
  const ofItems = isRecord(items) ? read(items['anyOf']) : [];
  return [...read(oneOf), ...ofItems.slice(0, 1).map((choice) => [choice])];
}

function isFormValue(value: unknown): value is FormValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

const readText = (value: unknown) => (typeof value === 'string' ? value : '');

/** Reads the texts of a request for a model's answer. */
function readMessages(messages: unknown): string {
  const blocks = listRecords(messages).flatMap(({ content }) => content);
  return blocks
    .flatMap((block) => (isRecord(block) && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('\n');
}
