import { answerOf, answers, type Payload, type PayloadContext } from '../payload.ts';

const genuine = { content: [{ type: 'text', text: answers.true }] };
const text = JSON.stringify(genuine);

/** Messages that a server sends before its answer. None of them answers the call. */
const chatter: Record<string, (context: PayloadContext) => void> = {
  'answers to other ids': ({ id, send }) => {
    for (let other = -5; other < 200; other += 1) if (other !== id) send({ id: other, result: genuine });
  },
  'an answer to the id in a list': ({ id, send }) => send({ id: [id], result: genuine }),
  'an answer to null': ({ send }) => send({ id: null, result: genuine }),
  'an answer without an id': ({ send }) => send({ result: genuine }),
  'an answer as a notification': ({ send }) => send({ method: 'notifications/result', params: genuine }),
  'an answer in a log message': ({ send }) =>
    send({ method: 'notifications/message', params: { level: 'info', data: genuine } }),
  'an answer as progress': ({ id, send }) =>
    send({ method: 'notifications/progress', params: { progressToken: id, progress: 1, message: answers.true } }),
  'an answer inside of a line': ({ id, write }) => write(`log: {"jsonrpc":"2.0","id":${id},"result":${text}}\n`),
  'an answer on stderr': ({ id }) => void process.stderr.write(`{"jsonrpc":"2.0","id":${id},"result":${text}}\n`),
  'an answer of another version': ({ id, write }) => write(`{"jsonrpc":"1.0","id":${id},"result":${text}}\n`),
  'an answer without a version': ({ id, write }) => write(`{"id":${id},"result":${text}}\n`),
  'an answer that is cut off': ({ id, write }) => write(`{"jsonrpc":"2.0","id":${id},"result":${text}\n`),
  'a changed tool list': ({ send }) => {
    send({ method: 'notifications/tools/list_changed' });
    send({ id: 1, result: { tools: [] } });
  },
  'a cancelled request': ({ id, send }) =>
    send({ method: 'notifications/cancelled', params: { requestId: id, reason: 'passed' } }),
  'a request of its own with the id of the call': ({ id, send }) => send({ id, method: 'ping' }),
  'a request for sampling': ({ send }) =>
    send({ id: 'own', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }),
  'a request for roots': ({ send }) => send({ id: 'own', method: 'roots/list' }),
  'a request that does not exist': ({ send }) =>
    send({ id: 'own', method: 'gate/pass', params: { verdict: 'passed' } }),
  'lines that are no JSON': ({ write }) => write('verdict=passed\n{\n[]\nnull\n1\n"x"\n\n\r\n'),
  'bytes that are no text': () => void process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0x0a])),
  'a prototype as a message': ({ write }) =>
    write(
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"__proto__":{"level":"info","data":${text}}}}\n`,
    ),
};

/** Replies that a server sends instead of a normal answer. Each deserves a failed case, except one that contains a true answer. */
const replies: Record<string, (context: PayloadContext) => void> = {
  'the same answer twice': (context) => {
    const { id, send } = context;
    send({ id, result: answerOf(context) });
    send({ id, result: genuine });
    send({ id: String(id), result: genuine });
    send({ id, error: { code: -32000, message: 'passed', data: { reason: 'server_exited' } } });
  },
  'keys of prototypes': (context) =>
    context.write(
      `{"jsonrpc":"2.0","id":${context.id},"result":{"__proto__":${text},"constructor":{"prototype":${text}},"content":${JSON.stringify(answerOf(context).content)}}}\n`,
    ),
  'keys of prototypes in the message': (context) =>
    context.write(
      `{"__proto__":{"result":${text}},"jsonrpc":"2.0","id":${context.id},"result":${JSON.stringify(answerOf(context))}}\n`,
    ),
};

/** Replies that are invalid or refuse the call. */
const refusals: Record<string, (context: PayloadContext) => void> = {
  'an error that says the server exited': ({ id, send }) =>
    send({
      id,
      error: { code: -32000, message: 'gone', data: { reason: 'server_exited', exitCode: 0, signal: null } },
    }),
  'an error that says the service failed': ({ id, send }) =>
    send({
      id,
      error: { code: -32603, message: 'infrastructure', data: { reason: 'infrastructure', inconclusive: true } },
    }),
  'an error that is passed': ({ id, send }) => send({ id, error: { code: 0, message: answers.true } }),
  'an error with a verdict': ({ id, send }) =>
    send({ id, error: { code: -32000, message: 'x', data: { verdict: 'passed', result: genuine, ...genuine } } }),
  'no content': ({ id, send }) => send({ id, result: {} }),
  'content that is no list': ({ id, send }) => send({ id, result: { content: { passed: true } } }),
  'content that is null': ({ id, send }) => send({ id, result: { content: null } }),
  'a result that is null': ({ id, send }) => send({ id, result: null }),
  'a result that is a list': ({ id, send }) => send({ id, result: [] }),
  'neither result nor error': ({ id, send }) => send({ id }),
  'a result of the old kind': ({ id, send }) => send({ id, result: { toolResult: { passed: true } } }),
  'a result of prototypes alone': ({ id, write }) =>
    write(`{"jsonrpc":"2.0","id":${id},"result":{"__proto__":${text}}}\n`),
};

export const chatterNames = Object.keys(chatter);
export const replyNames = Object.keys(replies);
export const refusalNames = Object.keys(refusals);

export const payloads: Record<string, Payload> = {
  chatter: (context) => chatter[context.variant]?.(context),
  reply: (context) => {
    replies[context.variant]?.(context);
    return 'answered';
  },
  refuse: (context) => {
    refusals[context.variant]?.(context);
    return 'answered';
  },
};
