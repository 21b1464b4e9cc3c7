import type { BehaviourReport } from '../../../src/model/behaviour.ts';

/** A comparison of behaviour in which every kind and every list occurs, and every external text is `text` if that is given. */
export function createBehaviourReport(text?: string): BehaviourReport {
  const t = (own: string) => text ?? own;
  const call = (tool: string, args: Record<string, unknown>) => ({
    kind: 'tool' as const,
    tool: t(tool),
    arguments: args,
  });
  return {
    base: { label: t('abc1234'), commit: null },
    problem: null,
    compared: {
      sandbox: 'confined',
      seed: 1,
      corpus: 'explored',
      isCutByTime: true,
      requests: { sent: 160, budget: 400 },
      sessions: { compared: 57, of: 60 },
      tools: { reached: 8, of: 9 },
      coverage: {
        tools: { reached: 8, of: 9 },
        parameters: { reached: 12, of: 14 },
        errorPaths: { reached: 9, of: 11 },
      },
      unexplored: [{ subject: t('send_mail'), reason: t('it needs the network, which worlds have not') }],
      uncompared: [{ subject: t('read_graph'), reason: t('2 sessions need it, and the change does not list it') }],
      flaky: [
        { session: [call('roll', {})], reason: t('request 1 had different outcomes: a result, an error of the tool') },
      ],
      differences: [
        {
          id: t('0a1b2c3d4e5f'),
          kind: 'broken',
          tool: t('delete_note'),
          pointer: '',
          message: t('an error instead of a result'),
          before: t('deleted'),
          after: t('TypeError: notes.remove is not a function'),
          session: [call('create_note', { title: t('alpha') }), call('delete_note', { noteId: t('{{result.0/id}}') })],
          case: '- id: case\n',
          disposition: 'fail',
        },
        {
          id: t('1a1b2c3d4e5f'),
          kind: 'changed',
          tool: t('list_notes'),
          pointer: t('/structuredContent/notes/*/title'),
          message: t('another value'),
          before: t('"alpha"'),
          after: t('"ALPHA"'),
          session: [call('list_notes', {})],
          case: '- id: case\n',
          disposition: 'review',
        },
        {
          id: t('2a1b2c3d4e5f'),
          kind: 'slower',
          tool: t('search'),
          pointer: '',
          message: t('30 times as slow in 12 pairs of calls'),
          before: t('20 ms'),
          after: t('610 ms'),
          session: [{ kind: 'prompt', prompt: t('search'), arguments: { query: t('x') } }],
          case: '',
          disposition: 'accepted',
        },
        {
          id: t('3a1b2c3d4e5f'),
          kind: 'broken',
          tool: null,
          pointer: '/stdout',
          message: t('the server writes to stdout as it starts, where only messages belong'),
          before: '',
          after: t('ready'),
          session: [],
          case: '',
          disposition: 'ignore',
        },
      ],
    },
    unusedAccepts: [t('4a1b2c3d4e5f')],
  };
}
