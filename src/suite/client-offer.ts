import type { z } from 'zod';
import { abilities, type Ability, createClientOfferSchema, offerExamples } from '../model/client-abilities.ts';
import type { Assertion } from '../model/assertion.ts';
import type { LocatedAnswer, LocatedOffer, SourceLocation } from '../model/suite.ts';
import { re2Pattern } from './assertion-values.ts';
import type { Finding } from './findings.ts';
import { text, withIssueCode } from './scalar-schemas.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';

const rootUri = text
  .refine(
    (uri) => uri.startsWith('file://') && URL.canParse(uri),
    withIssueCode('bad-root', (uri) => `${JSON.stringify(uri)} is not a root; write a URI such as file:///workspace`),
  )
  .meta({ pattern: '^file://', examples: ['file:///workspace'] });

/** The key `client` of suites and cases. */
export const writtenOfferSchema = createClientOfferSchema({ text, re2Pattern, rootUri })
  .meta({
    id: 'client',
    description: 'What the client offers the server, and its answers. A case replaces what its suite says, key by key.',
  })
  .exactOptional();

type WrittenOffer = NonNullable<z.output<typeof writtenOfferSchema>>;

/** Layers what a case and its suite say about the client, key by key; null where neither says anything. */
export function buildOffer(
  suite: WrittenOffer | undefined,
  testCase: WrittenOffer | undefined,
  { document, path }: { document: SourceDocument; path: DocumentPath },
): LocatedOffer | null {
  const offer = { ...suite, ...testCase };
  const keys = abilities.flatMap((ability) => {
    if (offer[ability] === undefined) return [];
    const key = [...(testCase?.[ability] === undefined ? [] : path), 'client', ability];
    return { ability, key, isOwn: testCase?.[ability] !== undefined };
  });
  const [first] = keys;
  if (first === undefined) return null;
  const answers = keys.flatMap(({ ability, key, isOwn }): LocatedAnswer[] => {
    const list = offer[ability];
    if (!Array.isArray(list)) return [{ ability, index: 0, isOwn, location: document.locateKey(key) }];
    return list.map((_, index) => ({ ability, index, isOwn, location: document.locateValue([...key, index]) }));
  });
  return { offer, answers, location: document.locateKey(first.key.slice(0, -1)) };
}

/** Finds conditions that say nothing. */
export function findEmptyConditions(
  written: WrittenOffer | undefined,
  document: SourceDocument,
  path: DocumentPath,
): Finding[] {
  const { elicitation = [], sampling = [] } = written ?? {};
  const lists = { elicitation, sampling: sampling === 'model' ? [] : sampling };
  return Object.entries(lists).flatMap(([ability, answers]) =>
    answers.flatMap((answer, index): Finding[] => {
      if (typeof answer === 'string' || answer.when === undefined || Object.keys(answer.when).length > 0) return [];
      const message = `\`when\` is empty; write ${ability === 'sampling' ? '`message` or `pattern`' : '`message`, `pattern` or `schema`'}`;
      return [{ ...document.locateKey([...path, 'client', ability, index, 'when']), code: 'empty-condition', message }];
    }),
  );
}

const requested: { readonly [Type in string]?: Ability } = {
  elicitationRequested: 'elicitation',
  samplingRequested: 'sampling',
};

/** Finds an assertion on requests that a server cannot make, since the case does not offer the ability. */
export function findUnofferedRequest(
  assertion: Assertion,
  offer: LocatedOffer | null,
  locate: () => SourceLocation,
): Finding[] {
  if (!('type' in assertion)) return [];
  const ability = requested[assertion.type === 'not' ? assertion.assertion.type : assertion.type];
  if (ability === undefined || offer?.offer[ability] !== undefined) return [];
  const message = `No server asks this client for ${ability}, which the case does not offer; add ${offerExamples[ability]}`;
  return [{ ...locate(), code: 'not-offered', message }];
}
