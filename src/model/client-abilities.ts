import { z } from 'zod';

/** The abilities of a client that a server can make requests for. */
export const abilities = ['elicitation', 'sampling', 'roots'] as const;
export type Ability = (typeof abilities)[number];

/** The schemas of the values in scripted answers. The evals file checks more of them than the wire. */
interface AnswerValues {
  text: z.ZodType<string>;
  /** A regular expression in RE2 syntax. */
  re2Pattern: z.ZodType<string>;
  /** A `file://` URI. */
  rootUri: z.ZodType<string>;
}

/** Creates the schema of a client's abilities and scripted answers. The evals file and the wire share it. */
export function createClientOfferSchema({ text, re2Pattern, rootUri }: AnswerValues) {
  const message = text.exactOptional().meta({ description: 'Text that the message contains.' });
  const pattern = re2Pattern.exactOptional().meta({ description: 'RE2 regular expression that the message matches.' });
  const schema = z.array(text).exactOptional().meta({ description: 'Names of fields that the form asks for.' });
  const description = 'Answers every request that fits, instead of the next one.';
  const whenAsked = z.strictObject({ message, pattern, schema }).exactOptional().meta({ description });
  const whenSampled = z.strictObject({ message, pattern }).exactOptional().meta({ description });
  const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
  const toolUse = z.strictObject({ name: text, input: z.record(z.string(), z.unknown()).exactOptional() });
  const elicitationAnswer = z
    .union([
      z.enum(['accept', 'decline', 'cancel']),
      z.strictObject({
        accept: z
          .union([z.literal(true), content])
          .meta({ description: 'The values that the user fills in; `true` for a URL that the user opens.' }),
        when: whenAsked,
      }),
      z.strictObject({ decline: z.literal(true), when: whenAsked }),
      z.strictObject({ cancel: z.literal(true), when: whenAsked }),
    ])
    .meta({ id: 'elicitation-answer', title: 'answer', description: "The user's answer to one request." });
  const samplingAnswer = z
    .union([
      z.strictObject({ text: text.meta({ description: "The model's answer." }), when: whenSampled }),
      z.strictObject({
        image: text.meta({ description: 'The data of an image, in Base64.' }),
        mimeType: text,
        when: whenSampled,
      }),
      z.strictObject({
        toolUse: z
          .union([z.array(toolUse), toolUse])
          .meta({ description: 'Tools of the request that the model calls.' }),
        when: whenSampled,
      }),
    ])
    .meta({ id: 'sampling-answer', title: 'answer', description: "The model's answer to one request." });
  const root = z.union([rootUri, z.strictObject({ uri: rootUri, name: text.exactOptional() })]);
  return z.strictObject({
    elicitation: z.array(elicitationAnswer).exactOptional().meta({
      description: 'The client offers elicitation, in forms and by URL, with these answers in their order.',
    }),
    sampling: z
      .union([z.literal('model'), z.array(samplingAnswer)])
      .exactOptional()
      .meta({
        description:
          "The client offers sampling, with these answers in their order; `model` asks the case's model instead.",
      }),
    roots: z.array(root).exactOptional().meta({ description: 'The client offers these folders, as `file://` URIs.' }),
  });
}

/** The schema on the wire. */
export const clientOfferSchema = createClientOfferSchema({
  text: z.string(),
  re2Pattern: z.string(),
  rootUri: z.string(),
});

/** The abilities that a case offers its server. The client does not announce an ability without a key. */
export type ClientOffer = z.infer<typeof clientOfferSchema>;
export type ElicitationAnswer = NonNullable<ClientOffer['elicitation']>[number];
export type SamplingAnswer = Exclude<NonNullable<ClientOffer['sampling']>, 'model'>[number];
/** A scripted answer of a client. A root counts as an answer. */
export type Answer = { [Name in Ability]: Exclude<NonNullable<ClientOffer[Name]>, 'model'>[number] }[Ability];
/** Selects the requests that an answer is for. */
export type AnswerCondition = NonNullable<Exclude<ElicitationAnswer, string>['when']>;

/** Lists the abilities that an offer announces. */
export function listOffered(offer: ClientOffer): Ability[] {
  return abilities.filter((ability) => offer[ability] !== undefined);
}

/** A request of a server to its client. */
export interface ClientRequest {
  ability: Ability;
  /** The message for the user or the model; empty for roots. */
  message: string;
  /** How the user answers an elicitation; null for other requests. */
  mode: 'form' | 'url' | null;
  /** Names of the fields of a form. */
  fields: readonly string[];
}

/** Identifies the scripted answer that was given; `index` counts from 0. */
export interface UsedAnswer {
  ability: Ability;
  index: number;
}

/** Shows how a file offers each ability. */
export const offerExamples: { readonly [Name in Ability]: string } = {
  elicitation: '`client: { elicitation: [{ accept: { … } }] }`',
  sampling: '`client: { sampling: [{ text: … }] }`',
  roots: '`client: { roots: [file:///…] }`',
};
