import { afterResult, type Conversation, say } from '../support/models/independent-provider.ts';
import { answer, call, limits } from './model-conversations.ts';

const ann = { name: 'Ann', entityType: 'person', observations: ['likes tea'] };

export const memoryConversations: readonly Conversation[] = [
  {
    id: 'remember',
    steps: [
      say('remember', 'Ann likes tea.'),
      { assert: { toolCalledWith: 'create_entities', arguments: { entities: [ann] } } },
      say('remember', 'Who likes tea?'),
      { assert: { toolResultEquals: 'Ann', path: '/entities/0/name', toolName: 'search_nodes' } },
      { assert: { responseContains: 'Ann' } },
    ],
    rules: [
      { ...call({ turn: 0 }, ['create_entities', { entities: [ann] }]), says: 'Ann' },
      { ...answer(afterResult('Ann'), 'I remember.'), says: 'Ann' },
      { ...call({ turn: 2 }, ['search_nodes', { query: 'tea' }]), says: 'Who' },
      { ...answer(afterResult('likes tea', 3), 'Ann does.'), says: 'Who' },
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'decoy',
    settings: { decoys: [{ name: 'forget_all', description: 'Forgets everything.' }] },
    steps: [
      { toolCall: 'create_entities', arguments: { entities: [{ ...ann, name: 'Bob' }] } },
      say('decoy', 'Forget Bob.'),
      { assert: { toolNeverCalled: 'forget_all' } },
    ],
    rules: [
      call({ turn: 0, predicate: ({ tools = [] }) => JSON.stringify(tools).includes('Forgets everything.') }, [
        'forget_all',
        {},
      ]),
      answer(afterResult('forget_all'), 'I could not.'),
    ],
    expected: { result: 'failed', reason: /toolNeverCalled: .*forget_all/ },
  },
  {
    id: 'several',
    steps: [
      say('several', 'Cleo and Dan are friends.'),
      { assert: { toolCalledBefore: 'create_entities', beforeToolName: 'create_relations' } },
      { toolCall: 'open_nodes', arguments: { names: ['Cleo', 'Dan'] } },
      { assert: { toolResultEquals: 'friend', path: '/relations/0/relationType' } },
    ],
    rules: [
      call(
        { turn: 0 },
        ['create_entities', { entities: ['Cleo', 'Dan'].map((name) => ({ ...ann, name })) }],
        ['create_relations', { relations: [{ from: 'Cleo', to: 'Dan', relationType: 'friend' }] }],
      ),
      answer(afterResult('friend'), 'They are.'),
    ],
    expected: { result: 'passed' },
  },
  {
    id: 'wrong',
    steps: [
      {
        toolCall: 'create_entities',
        arguments: { entities: [{ ...ann, name: 'Eve', observations: ['likes coffee'] }] },
      },
      say('wrong', 'What does Eve like?'),
      { assert: { toolResultContains: 'coffee', toolName: 'open_nodes' } },
      { assert: { responseContains: 'coffee' } },
    ],
    rules: [call({ turn: 0 }, ['open_nodes', { names: ['Eve'] }]), answer(afterResult('likes coffee'), 'Cocoa.')],
    expected: { result: 'failed', reason: /responseContains: .*"Cocoa\." .*"coffee"/ },
  },
  {
    id: 'withheld',
    steps: [say('withheld', 'Do harm.'), { assert: { toolCallCountUnder: 1 } }],
    rules: [
      {
        when: { model: /claude/ },
        answer: { content: 'No.', finishReason: 'refusal' },
      },
      { when: {}, answer: { content: 'No.', finishReason: 'content_filter' } },
    ],
    expected: { result: 'unscored', reason: /withheld the answer because of its content/ },
  },
  ...limits,
];
