// A model that follows its prompt and says what it is shown.
import { isRecord, listTexts } from '../../../src/base/json.ts';
import type { ModelReply, ProviderRequest } from '../../../test/support/models/scripted-provider.ts';

const instruction = /Call (\S+) with (\{.*?\})\. Look for "(.*?)"\./;
const searches = new Set(['ToolSearch', 'tool_search']);
const imageTypes = new Set<unknown>(['image', 'image_url', 'input_image']);

/**
 * Answers a prompt such as `Call echo with {"message":"hi"}. Look for "Echo: hi".` The model searches the tool if it has to, calls it, and says
 * if the text is anywhere in the request but in the prompt.
 */
export function answerAsScripted({ body }: ProviderRequest): ModelReply {
  const { tools, ...conversation } = body;
  const prompt = [...listTexts(conversation)].findLast(({ text }) => instruction.test(text))?.text ?? '';
  const [sentence = '', tool = '', input = '{}', wanted = ''] = instruction.exec(prompt) ?? [];
  const offered = listNamed(tools, null);
  // Hosts put a prefix before a name, and Codex replaces dashes.
  const isTool = (name: unknown) =>
    typeof name === 'string' && `_${name}`.replaceAll('-', '_').endsWith(`_${tool}`.replaceAll('-', '_'));
  const shown = offered.find(({ name }) => isTool(name));
  const isCalled = listObjects(conversation).some(({ name }) => isTool(name));
  if (shown !== undefined && !isCalled) return { toolCalls: [{ ...shown, arguments: JSON.parse(input) }] };
  const search = offered.find(({ name }) => searches.has(name));
  if (shown === undefined && search !== undefined && !hasAnswered(conversation)) {
    return { toolCalls: [{ ...search, arguments: { query: tool } }] };
  }
  if (shown === undefined) return { text: `There is no tool ${tool}.` };
  const texts = [...listTexts(body)].map(({ text }) => text.replaceAll(sentence, ''));
  const isSeen =
    wanted === 'an image'
      ? listObjects(conversation).some(({ type, mimeType }) => imageTypes.has(type) || mimeType === 'image/png')
      : texts.some((text) => text.includes(wanted));
  return { text: `${isSeen ? 'I see' : 'I do not see'} ${wanted}.` };
}

/** Lists all objects within a value. */
function listObjects(value: unknown): Array<Record<string, unknown>> {
  if (Array.isArray(value)) return value.flatMap(listObjects);
  return isRecord(value) ? [value, ...Object.values(value).flatMap(listObjects)] : [];
}

/** Lists the tools of a request: plain ones, those in `function`, in `functionDeclarations`, and in a namespace. */
function listNamed(value: unknown, namespace: string | null): Array<{ name: string; namespace?: string }> {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((tool) => {
    const { name } = isRecord(tool['function']) ? tool['function'] : tool;
    if (Array.isArray(tool['functionDeclarations'])) return listNamed(tool['functionDeclarations'], null);
    if (typeof name !== 'string') return [];
    if (Array.isArray(tool['tools'])) return listNamed(tool['tools'], name);
    return [{ name, ...(namespace !== null && { namespace }) }];
  });
}

function hasAnswered(conversation: object): boolean {
  return listObjects(conversation).some(({ role }) => role === 'assistant');
}
