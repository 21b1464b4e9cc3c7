import { printRequest } from '../../model/explored-request.ts';
import { clipText, endSentence, formatCount } from '../../base/text.ts';
import {
  type BehaviourDifference,
  type BehaviourDisposition,
  behaviourKinds,
  type BehaviourReport,
} from '../../model/behaviour.ts';
import { compareTexts } from '../differences.ts';
import { type Alike, describeAlike, groupAlike } from './alike.ts';
import {
  asCode,
  asMark,
  asName,
  asProse,
  type Block,
  briefly,
  type ChangeItem,
  heading,
  type Line,
  list,
  type Mark,
  text,
} from './block.ts';

const marks: Record<BehaviourDisposition, Mark> = {
  fail: 'failed',
  review: 'inconclusive',
  ignore: 'minor',
  accepted: 'minor',
};

/** The longest value of a side in a comment. */
const longestSide = 160;

type Compared = NonNullable<BehaviourReport['compared']>;

/**
 * Describes the comparison in one line: `2 broken, 1 changed; compared 57 sessions of base abc123 on 9 of 9 tools`. What was accepted counts
 * apart.
 */
export function describeBehaviour({ base, compared, problem }: BehaviourReport): Line {
  if (compared === null)
    return ['not compared with base ', asName(base.label), ': ', asProse(endSentence(problem ?? 'nothing ran'))];
  const { differences, sessions, tools } = compared;
  const isAccepted = ({ disposition }: BehaviourDifference) => disposition === 'accepted';
  const counts = behaviourKinds.flatMap((kind) => {
    const { length } = differences.filter((difference) => difference.kind === kind && !isAccepted(difference));
    return length === 0 ? [] : [`${length} ${kind}`];
  });
  const accepted = differences.filter(isAccepted).length;
  const found = [...counts, ...(accepted === 0 ? [] : [`${accepted} accepted`])].join(', ');
  const on = ` on ${tools.reached} of ${formatCount(tools.of, 'tool')}.`;
  return [
    `${found === '' ? 'no difference' : found}; compared ${formatCount(sessions.compared, 'session')} of base `,
    asName(base.label),
    on,
  ];
}

/** Composes the differences by their kind, what they were seen with, and what was not compared; empty if there is no comparison. */
export function composeBehaviour(behaviour: BehaviourReport | undefined): Block[] {
  if (behaviour === undefined) return [];
  const { compared, unusedAccepts } = behaviour;
  const line = describeBehaviour(behaviour);
  if (compared === null) return [heading('screen', ['Behaviour']), text('brief', 'Behaviour: ', ...line)];
  const open = groupAlike(
    compared.differences.filter(({ disposition }) => disposition !== 'accepted'),
    writeKey,
  );
  const accepted = compared.differences.filter(({ disposition }) => disposition === 'accepted');
  return [
    heading('screen', ['Behaviour']),
    text('brief', 'Compared with the base: ', ...line),
    {
      kind: 'changes',
      from: 'screen',
      items: open.map(describeChange),
      by: 'rows',
      noun: 'difference',
      why: 'Seen with',
    },
    briefly({
      kind: 'list',
      from: 'brief',
      items: open.map(({ first, others }) => [
        [...nameDifference(first), ': ', asProse(first.message)],
        ...listSides(first),
        ...(others.length === 0 ? [] : [describeAlike(others.map(({ tool }) => [nameTool(tool)]))]),
      ]),
      by: 'rows',
      noun: 'difference',
    }),
    list(
      'screen',
      accepted.map((difference) => ['Accepted: ', ...nameDifference(difference), ' (', asName(difference.id), ')']),
      {
        noun: 'accepted difference',
        open: 5,
      },
    ),
    list(
      'screen',
      unusedAccepts.map((id) => ['Accepted, and no longer found: ', asName(id)]),
      { noun: 'accepted id' },
    ),
    ...composeGaps(compared),
  ];
}

/** Writes what a difference says without its tool. What is new or missing may have another value in each tool. */
function writeKey({ kind, disposition, pointer, message, before, after }: BehaviourDifference): string {
  const values = before === '' || after === '' ? [] : [before, after];
  return JSON.stringify([kind, disposition, pointer, message, ...values]);
}

const nameTool = (tool: string | null) => asName(tool ?? 'the server');

/** Describes a difference with the values of both sides, and the session that shows it. */
function describeChange({ first, others }: Alike<BehaviourDifference>): ChangeItem {
  const { id, kind, disposition, tool, pointer, message, before, after, session } = first;
  const where = [tool ?? 'the server', ...(pointer === '' ? [] : [pointer])].join(' ');
  const difference = compareTexts(where, before, after);
  return {
    mark: marks[disposition],
    severity: kind,
    id: asName(id),
    message: asProse(`${where}: ${message}`),
    reason: session.length === 0 ? 'Seen as the server starts.' : asCode(session.map(printRequest).join(', then ')),
    alike: describeAlike(others.map((other) => [nameTool(other.tool), ' (', asName(other.id), ')'])),
    texts: [],
    ...(difference !== null && { difference }),
    place: null,
  };
}

/** Writes both sides in short, each on a line. */
function listSides({ before, after }: BehaviourDifference): Line[] {
  const write = (sign: string, value: string): Line[] =>
    value === '' ? [] : [[sign, asCode(clipText(value.replaceAll(/\s+/g, ' '), longestSide))]];
  return [...write('- ', before), ...write('+ ', after)];
}

function nameDifference({ kind, tool, pointer, disposition }: BehaviourDifference): Line {
  return [asMark(marks[disposition]), ` ${kind} `, nameTool(tool), ...(pointer === '' ? [] : [' ', asName(pointer)])];
}

/** Composes what the comparison does not cover, with the reasons. */
function composeGaps({
  unexplored,
  uncompared,
  flaky,
  isCutByTime,
  seed,
  sandbox,
  corpus,
  coverage,
}: Compared): Block[] {
  const { parameters, errorPaths } = coverage;
  const reached = `${parameters.reached} of ${formatCount(parameters.of, 'parameter')} and ${errorPaths.reached} of ${formatCount(errorPaths.of, 'error path')}`;
  const how = corpus === 'cached' ? 'requests that an earlier job found' : 'a new exploration';
  const gaps = [
    ...unexplored.map(({ subject, reason }): Line => ['Not explored: ', asName(subject), ', ', asProse(reason)]),
    ...uncompared.map(({ subject, reason }): Line => ['Not compared: ', asName(subject), ', ', asProse(reason)]),
    ...flaky.map(({ session, reason }): Line => [
      'Flaky: ',
      asCode(session.map(printRequest).join(', then ')),
      ', ',
      asProse(reason),
    ]),
  ];
  return [
    {
      ...text('screen', `The base reached ${reached}, in ${how} with the seed ${seed} at sandbox level ${sandbox}.`),
      isFine: true,
    },
    ...(isCutByTime
      ? [text('screen', 'The time limit cut the exploration: a longer `behaviour-time-limit` may find more.')]
      : []),
    list('screen', gaps, { noun: 'gap', open: 5 }),
  ];
}
