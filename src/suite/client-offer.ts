import type { z } from 'zod';
import { abilities, createClientOfferSchema, offerExamples } from '../model/client-abilities.ts';
import { type Assertion, type Check, listParts } from '../checks/assertion.ts';
import type { Step } from '../cases/step.ts';
import type { LocatedAnswer, LocatedOffer, LocatedStep, SourceLocation } from '../cases/suite.ts';
import { checkRegistry } from '../checks/registry.ts';
import { re2Pattern } from './assertion-values.ts';
import type { Finding } from './findings.ts';
import { text, withIssueCode } from '../model/written-values.ts';
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
    description: "The client's offers to the server, and its answers. Keys of a case replace those of its suite.",
  })
  .exactOptional();

type WrittenOffer = NonNullable<z.output<typeof writtenOfferSchema>>;

/** Layers the `client` settings of a case over those of its suite, key by key; null if neither has any. */
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

/** Finds empty conditions. */
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

/**
 * Finds assertions on requests that a server cannot make because the case does not offer the ability. Looks into steps, repeated steps,
 * checks and wrapped assertions.
 */
export function findUnofferedRequests(
  {
    steps,
    checks,
  }: { steps: readonly LocatedStep[]; checks: ReadonlyArray<{ check: Check; location: SourceLocation }> },
  offer: LocatedOffer | null,
): Finding[] {
  const ofSteps = steps.flatMap(({ step, location }) => listAssertions(step).map((check) => ({ check, location })));
  return [...ofSteps, ...checks].flatMap(({ check, location }) => {
    const needed = new Set(listParts(check).flatMap((part) => checkRegistry.find(part.check.type)?.ability ?? []));
    const missing = [...needed].filter((ability) => offer?.offer[ability] === undefined);
    return missing.map((ability): Finding => {
      const message = `No server asks this client for ${ability}, which the case does not offer; add ${offerExamples[ability]}`;
      return { ...location, code: 'not-offered', message };
    });
  });
}

function listAssertions(step: Step): Assertion[] {
  if (step.kind === 'repeat') return [...step.steps.flatMap(listAssertions), step.until];
  return step.kind === 'assert' ? [step.assertion] : [];
}
