import { z } from 'zod';
import { type Ability, type ClientRequest, offerExamples } from '../model/client-abilities.ts';
import { defineCheck } from './define-check.ts';
import type { Evidence } from './evidence.ts';
import { decide, type Judgement, leaveUnmeasured } from './judgement.ts';
import { type CheckParts } from './parts.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';

const messageOf = ({ text }: CheckParts) =>
  text.exactOptional().meta({ description: 'Text that the message of the request contains.' });

/**
 * Checks of the requests that a server makes to its client. Hosted services do not record them. A server makes no request for an ability
 * that the case does not offer, so the absence of a request is no evidence then.
 */
export const clientChecks = [
  defineCheck({
    name: 'elicitationRequested',
    docs: 'the server asked for elicitation, `minCount` times (1), with this text in the message',
    ability: 'elicitation',
    schema: (parts) => ({
      message: messageOf(parts),
      schema: z.array(parts.text).exactOptional().meta({ description: 'Names of fields that the form asks for.' }),
      mode: z.enum(['form', 'url']).exactOptional(),
      minCount: parts.count.exactOptional(),
    }),
    sample: { message: 'a', schema: ['b'], mode: 'form', minCount: 2 },
    judge: (fields, evidence) => judgeRequests('elicitation', fields, evidence),
    final: 'passed',
  }),
  defineCheck({
    name: 'samplingRequested',
    docs: 'the server asked for sampling, `minCount` times (1), with this text in one of the messages',
    ability: 'sampling',
    schema: (parts) => ({ message: messageOf(parts), minCount: parts.count.exactOptional() }),
    sample: { message: 'a', minCount: 2 },
    judge: (fields, evidence) => judgeRequests('sampling', fields, evidence),
    final: 'passed',
  }),
];

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
