import {
  afterResult,
  callTools,
  type Conversation,
  say,
  type ProviderRule,
  type ToolRequest,
} from '../support/models/independent-provider.ts';

/** Conversations with real servers. The provider only answers a request that contains what the case requires. */

export const answer = (
  when: ProviderRule['when'],
  content: string,
  rest: Partial<ProviderRule> = {},
): ProviderRule => ({
  when,
  answer: { content },
  ...rest,
});
export const call = (when: ProviderRule['when'], ...calls: readonly ToolRequest[]): ProviderRule => ({
  when,
  answer: callTools(...calls),
});

/** Ways in which a model may stop instead of answering, with any server. */
export const limits: readonly Conversation[] = [
  {
    id: 'length',
    steps: [say('length', 'Tell a story.'), { assert: { responseContains: 'Once' } }],
    rules: [{ when: { turn: 0 }, answer: { content: 'Once upon a', finishReason: 'length' } }],
    expected: { result: 'failed', reason: /The model reached its output limit before it was done\./ },
  },
  {
    id: 'broken',
    steps: [say('broken', 'Hello.'), { assert: { responseContains: 'Hi' } }],
    rules: [{ when: {}, answer: { error: { message: 'A fuse blew.', type: 'api_error' }, status: 500 } }],
    expected: { result: 'unscored', reason: /(?:anthropic|openai) is out of order \(500\): A fuse blew\./ },
  },
  // The last one, because calls are further apart after a refusal.
  {
    id: 'paced',
    steps: [say('paced', 'Hello.'), { assert: { responseContains: 'Hi' } }],
    rules: [
      {
        when: { sequenceIndex: 0 },
        answer: { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 0 },
      },
      {
        when: { sequenceIndex: 1 },
        answer: { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 1 },
      },
      answer({}, 'Hi.'),
    ],
    expected: { result: 'passed' },
  },
];

export const everythingConversations: readonly Conversation[] = [
  {
    id: 'turns',
    steps: [
      say('turns', 'My name is Ada.'),
      say('turns', 'Who am I?'),
      { assert: { responseContains: 'Ada' } },
      { assert: { toolCallCountUnder: 1 } },
    ],
    rules: [
      answer({ turn: 0 }, 'Hello, Ada.', { says: 'My name' }),
      answer(
        { turn: 1, predicate: ({ messages }) => JSON.stringify(messages).includes('Hello, Ada.') },
        'You are Ada.',
      ),
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'sum',
    settings: { system: 'You add.', temperature: 0 },
    steps: [
      say('sum', 'What is 2 + 3?'),
      { assert: { toolCalledWith: 'get-sum', arguments: { a: 2, b: 3 } } },
      { assert: { toolResultContains: '5', toolName: 'get-sum' } },
      { assert: { responseContains: '5' } },
    ],
    rules: [
      call({ turn: 0, systemMessage: 'You add.' }, ['get-sum', { a: 2, b: 3 }]),
      answer(afterResult('sum of 2 and 3 is 5'), 'It is 5.'),
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'parallel',
    steps: [
      say('parallel', 'Do both.'),
      { assert: { onlyToolsCalled: ['get-sum', 'echo'] } },
      { assert: { toolCalledBefore: 'get-sum', beforeToolName: 'echo' } },
      { assert: { responseContains: 'both' } },
    ],
    rules: [
      call({ turn: 0 }, ['get-sum', { a: 4, b: 5 }], ['echo', { message: 'twice' }]),
      answer(
        {
          ...afterResult('Echo: twice'),
          predicate: ({ messages }) => messages.filter(({ role }) => role === 'tool').length === 2,
        },
        'I did both.',
      ),
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'pinned',
    steps: [
      { toolCall: 'echo', arguments: { message: 'from the author' } },
      say('pinned', 'Add 1 and 1.'),
      { assert: { responseContains: '2' } },
      { toolCall: 'get-sum', arguments: { a: 20, b: 20 } },
      { assert: { toolResultContains: '40' } },
      { assert: { toolCallCountUnder: 4 } },
    ],
    rules: [call({ turn: 0 }, ['get-sum', { a: 1, b: 1 }]), answer(afterResult('is 2'), 'It is 2.')],
    expected: { result: 'passed' },
  },
  {
    id: 'image',
    steps: [say('image', 'Look.'), { assert: { responseContains: 'picture' } }],
    rules: [
      call({ turn: 0 }, ['get-tiny-image', {}]),
      answer(afterResult('image'), 'A picture.'),
      // In Chat Completions, images of results follow in a message of the user.
      answer({ turn: 1, userMessage: 'images of the tool results' }, 'A picture.'),
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'refusal',
    steps: [say('refusal', 'What is 2 + 3?'), { assert: { toolCalledWith: 'get-sum', arguments: { a: 2 } } }],
    rules: [answer({ turn: 0 }, 'I cannot help with that.')],
    expected: { result: 'failed', reason: /expected a call of get-sum with \{"a":2\}, found 0; no tool was called/ },
  },
  {
    id: 'arguments',
    steps: [say('arguments', 'Add.'), { assert: { responseContains: '5' } }],
    rules: [
      call({ turn: 0 }, ['get-sum', { a: 'two', b: 3 }]),
      call(afterResult('break its inputSchema'), ['get-sum', { a: 2, b: 3 }]),
      answer(afterResult('is 5', 2), 'It is 5.'),
    ],
    expected: { result: 'failed', reason: /The arguments of get-sum break its inputSchema: .*a/ },
  },
  {
    id: 'invented',
    steps: [say('invented', 'Divide.'), { assert: { responseContains: 'cannot' } }],
    rules: [call({ turn: 0 }, ['get-quotient', { a: 1 }]), answer(afterResult('get-quotient'), 'I cannot.')],
    expected: { result: 'failed', reason: /get-quotient/ },
  },
  ...limits,
];

/** Creates conversations about files. The server may read and write `files`, a directory. */
export function converseAboutFiles(files: string): readonly Conversation[] {
  return [
    {
      id: 'browse',
      steps: [
        say('browse', 'What do my notes say?'),
        { assert: { firstToolWas: 'list_directory' } },
        { assert: { toolCalledWith: 'read_text_file', arguments: { path: `${files}/note.txt` } } },
        say('browse', 'Note it again.'),
        { assert: { toolCalledAtLeastOnce: 'write_file' } },
        { assert: { responseContains: 'noted' } },
      ],
      rules: [
        { ...call({ turn: 0 }, ['list_directory', { path: files }]), says: 'What' },
        { ...call(afterResult('note.txt'), ['read_text_file', { path: `${files}/note.txt` }]), says: 'What' },
        { ...answer(afterResult('buy milk', 2), 'To buy milk.'), says: 'What' },
        {
          ...call({ turn: 3 }, ['write_file', { path: `${files}/again.txt`, content: 'buy milk' }]),
          says: 'Note',
        },
        { ...answer(afterResult('again.txt', 4), 'It is noted.'), says: 'Note' },
      ],
      expected: { result: 'passed' },
    },
    {
      id: 'both',
      steps: [
        { toolCall: 'write_file', arguments: { path: `${files}/left.txt`, content: 'left shoe' } },
        { toolCall: 'write_file', arguments: { path: `${files}/right.txt`, content: 'right shoe' } },
        say('both', 'Read both.'),
        { assert: { toolResultContains: 'left shoe', toolName: 'read_text_file' } },
        { assert: { toolResultContains: 'right shoe', toolName: 'read_text_file', latest: true } },
        { assert: { responseContains: 'pair' } },
      ],
      rules: [
        call(
          { turn: 0 },
          ['read_text_file', { path: `${files}/left.txt` }],
          ['read_text_file', { path: `${files}/right.txt` }],
        ),
        answer(afterResult('right shoe'), 'A pair.'),
      ],
      expected: { result: 'passed' },
    },
    {
      id: 'forbidden',
      settings: { toolPolicy: { deny: ['write_file'] } },
      steps: [
        say('forbidden', 'Overwrite the note.'),
        { assert: { toolNeverCalled: 'write_file' } },
        { assert: { responseContains: 'not' } },
      ],
      rules: [
        call({ turn: 0 }, ['write_file', { path: `${files}/note.txt`, content: 'gone' }]),
        answer(afterResult('Calls of write_file are not allowed here.'), 'I may not.'),
      ],
      expected: { result: 'passed' },
    },
    {
      id: 'outside',
      steps: [say('outside', 'Read the users.'), { assert: { responseContains: 'denied' } }],
      rules: [
        call({ turn: 0 }, ['read_text_file', { path: '/etc/passwd' }]),
        answer(afterResult('denied'), 'It is denied.'),
      ],
      expected: { result: 'failed', reason: /read_text_file answered with an error: .*Access denied/ },
    },
    {
      id: 'outside-expected',
      steps: [say('outside-expected', 'Read the users.'), { assert: { toolResultIsError: true } }],
      rules: [
        call({ turn: 0 }, ['read_text_file', { path: '/etc/passwd' }]),
        answer(afterResult('denied'), 'It is denied.'),
      ],
      expected: { result: 'passed' },
    },
    {
      id: 'endless',
      settings: { maxSteps: 2 },
      steps: [say('endless', 'Keep looking.'), { assert: { toolCalledAtLeastOnce: 'list_directory' } }],
      rules: [call({}, ['list_directory', { path: files }])],
      expected: {
        result: 'failed',
        reason: /The model asked for another tool in its answer 2, and `maxSteps` allows 2\./,
      },
    },
    ...limits,
  ];
}
