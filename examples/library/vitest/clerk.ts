// Stands for the model of a project, so that the examples run without a key. Any model of the AI SDK takes its place.
import { defineModel } from 'mcp-eval-ci';

type Model = Parameters<typeof defineModel>[0]['model'];
type Answer = Awaited<ReturnType<Model['doGenerate']>>;

const doGenerate: Model['doGenerate'] = ({ prompt, tools = [] }) => {
  const text = JSON.stringify(prompt).replaceAll('\\', '');
  const [id = ''] = /inv_\d+/.exec(text) ?? [];
  const call = (toolName: string, input: object): Answer['content'] => [
    { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) },
  ];
  const answer = (): Answer['content'] => {
    const judge = tools.find(({ name }) => !name.includes('invoice') && !name.includes('refund'));
    if (judge !== undefined) return call(judge.name, { reason: 'It is approved.', score: 1, passed: true });
    if (!text.includes('"tool-result"')) return call('lookup_invoice', { id });
    if (text.includes('"refundable":false')) return [{ type: 'text', text: 'The refund is denied.' }];
    if (!text.includes('approved')) return call('create_refund', { id });
    return [{ type: 'text', text: 'The refund is approved.' }];
  };
  const content = answer();
  const finish = content[0]?.type === 'tool-call' ? 'tool-calls' : 'stop';
  const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  return Promise.resolve({ content, finishReason: { unified: finish, raw: finish }, usage, warnings: [] });
};

export const clerk = defineModel({
  name: 'shop/clerk',
  model: {
    specificationVersion: 'v4',
    provider: 'shop',
    modelId: 'clerk',
    supportedUrls: {},
    doGenerate,
    doStream: () => Promise.reject(new Error('It does not stream.')),
  },
});
