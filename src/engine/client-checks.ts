import type { ClientType } from '../checks/assertion.ts';
import { type Ability, type ClientRequest, offerExamples } from '../model/client-abilities.ts';
import { decide, type Evidence, type Judgement, type Judgements, leaveUnmeasured } from './evidence.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';

/** Checks of what a server asked its client. A server that is not offered an ability does not ask, which says nothing. */
export const clientJudgements: Judgements<ClientType> = {
  elicitationRequested: (check, evidence) => judgeRequests('elicitation', check, evidence),
  samplingRequested: (check, evidence) => judgeRequests('sampling', check, evidence),
};

function judgeRequests(
  ability: Ability,
  wanted: { message?: string; schema?: string[]; mode?: string; minCount?: number },
  { clientRequests }: Evidence,
): Judgement {
  if (clientRequests === null) return leaveUnmeasured('what the server asked its client was not captured.');
  const requests = clientRequests[ability];
  if (requests === undefined) {
    return leaveUnmeasured(`the case does not offer ${ability}; add ${offerExamples[ability]}.`);
  }
  const { message = '', schema = [], mode, minCount = 1 } = wanted;
  const fitting = requests.filter(
    (request) =>
      request.message.includes(message) &&
      schema.every((field) => request.fields.includes(field)) &&
      (mode === undefined || request.mode === mode),
  );
  const conditions = [
    ...(message === '' ? [] : [`a message that contains ${printValue(message)}`]),
    ...(schema.length === 0 ? [] : [`the fields ${schema.join(', ')}`]),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
  ];
  const which = conditions.length === 0 ? '' : ` with ${conditions.join(' and ')}`;
  const all = requests.length === fitting.length ? '' : `; it asked ${describeRequests(requests)}`;
  const times = fitting.length === 1 ? 'once' : fitting.length === 0 ? 'not at all' : `${fitting.length} times`;
  const needed = minCount === 1 ? '' : `, of at least ${minCount} times`;
  return decide(fitting.length >= minCount, `the server asked for ${ability}${which} ${times}${needed}${all}.`);
}

function describeRequests(requests: readonly ClientRequest[]): string {
  return joinWithin(
    requests.map(
      ({ message, fields }) => `${printValue(message)}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`,
    ),
    maxListLength,
  );
}
