import { z } from 'zod';
import { hostIds } from '../model/host-ids.ts';

const date = z.iso.date();

/** How a fact was obtained, of which version of the host, and when. */
const basisSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('measured'),
    version: z.string().min(1),
    date,
  }),
  z.strictObject({
    kind: z.literal('sourced'),
    /** Null if the source names no version. */
    version: z.string().min(1).nullable(),
    date,
    /** The address or the title of the document. */
    source: z.string().min(1),
  }),
]);

/**
 * Every value of a profile is a fact. `note` is a sentence for readers: what the value leaves out. `models` says for which models the value
 * holds, if not for all, as the end of a sentence.
 */
function fact<T extends z.ZodType>(value: T) {
  return z.strictObject({
    value,
    basis: basisSchema,
    note: z.string().endsWith('.').exactOptional(),
    models: z.string().min(1).exactOptional(),
  });
}

/** A limit in characters; null if there is none. */
const limit = z.int().positive().nullable();

const namesSchema = z.strictObject({
  /** The name that the model is shown, with `{server}` and `{tool}`. */
  pattern: z.string().includes('{tool}'),
  /** The namespace in which the model is shown the tool, with `{server}`; null if there is none. */
  namespace: z.string().includes('{server}').nullable(),
  /** The characters that stay, as within brackets of a regular expression; `_` replaces all others. Null if none is replaced. */
  kept: z.string().nullable(),
  limit,
  /** The text that the limit counts, with `{server}` and `{tool}`. Default: the name that the model is shown. */
  counted: z.string().exactOptional(),
  /** What happens to a longer name. */
  long: z.enum(['kept', 'cut-end', 'cut-middle', 'hash', 'tool-dropped', 'refused']),
});

const schemaChange = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('keywords-dropped'), keywords: z.array(z.string()).min(1) }),
  z.strictObject({ kind: z.literal('keywords-described'), keywords: z.array(z.string()).min(1) }),
  z.strictObject({ kind: z.literal('parameter-added') }),
  z.strictObject({ kind: z.literal('closed') }),
]);

/** What the model sees of a part of a result. */
const partSchema = z.enum(['shown', 'text', 'json', 'note', 'file', 'message', 'lost']);

const longResultSchema = z.strictObject({
  /** A text is cut from this size. */
  over: z.int().positive(),
  unit: z.enum(['characters', 'tokens']),
  /** The number of characters that the model is shown of the beginning and of the end. */
  head: z.int().nonnegative(),
  tail: z.int().nonnegative(),
  rest: z.enum(['file', 'dropped']),
  isError: z.boolean(),
});

/** The facts about a host. A fact that is absent is unknown, and nothing is derived from it. */
export const hostProfileSchema = z.strictObject({
  id: z.enum(hostIds),
  title: z.string().min(1),
  names: fact(namesSchema),
  tools: z.strictObject({
    /** The maximum number of tools, with those of other servers. */
    limit: fact(z.int().positive()).exactOptional(),
    /** What the model is shown of tools before it asks for one: with `search`, their names, and `characters` of each description. */
    deferral: fact(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('none') }),
        z.strictObject({ kind: z.literal('by-model') }),
        z.strictObject({ kind: z.literal('search'), characters: z.int().nonnegative() }),
      ]),
    ).exactOptional(),
    /**
     * The tool that searches deferred tools, the one that calls a tool that was found (null if the host offers that tool itself from then
     * on), and the most tools that a search finds (null if that is not known).
     */
    search: fact(
      z.strictObject({ name: z.string().min(1), callName: z.string().min(1).nullable(), most: limit }),
    ).exactOptional(),
    /** What happens to tools that the server keeps for its apps. */
    forApps: fact(z.enum(['hidden', 'shown'])).exactOptional(),
  }),
  /** `limit` applies to tools that are not deferred. */
  description: fact(z.strictObject({ limit })).exactOptional(),
  instructions: fact(
    z.discriminatedUnion('shown', [
      z.strictObject({ shown: z.literal('never') }),
      z.strictObject({
        shown: z.enum(['system-prompt', 'message', 'project-context', 'namespace', 'reminder', 'with-tools']),
        limit,
      }),
    ]),
  ).exactOptional(),
  schemas: z.strictObject({
    changes: fact(z.array(schemaChange)).exactOptional(),
    /** A schema that the host does not accept, and what it drops because of it. */
    refused: fact(
      z.strictObject({ shape: z.literal('property-true'), drops: z.enum(['server', 'tool']) }).nullable(),
    ).exactOptional(),
  }),
  /** `checked`: the host refuses arguments that break the input schema. */
  arguments: fact(z.enum(['checked', 'passed-on'])).exactOptional(),
  /** The default timeout of a call in seconds; null if there is no single value. */
  timeout: fact(z.number().positive().nullable()).exactOptional(),
  results: z.strictObject({
    /** The part that the model sees of a result with structured content and text. */
    structured: fact(z.enum(['structured', 'text', 'both'])).exactOptional(),
    /** Whether a host that does not show the texts next to structured content shows images there; by default it does not. */
    structuredImage: fact(z.enum(['shown', 'lost'])).exactOptional(),
    /** What the model sees of structured content without other content. */
    structuredAlone: fact(z.enum(['json', 'nothing', 'placeholder'])).exactOptional(),
    error: fact(z.enum(['marked', 'unmarked', 'prefixed'])).exactOptional(),
    image: fact(partSchema).exactOptional(),
    resource: fact(partSchema).exactOptional(),
    link: fact(partSchema).exactOptional(),
    audio: fact(partSchema).exactOptional(),
    /** Content whose audience is only the user. */
    forUser: fact(z.enum(['shown', 'lost'])).exactOptional(),
    /** Null if the model sees results of any size. */
    long: fact(longResultSchema.nullable()).exactOptional(),
  }),
});

export type HostProfile = z.infer<typeof hostProfileSchema>;
export type NamingFact = HostProfile['names'];
export type SchemaChange = z.infer<typeof schemaChange>;
export type PartHandling = z.infer<typeof partSchema>;
/** A fact with any value. */
export interface AnyFact {
  value: unknown;
  basis: z.infer<typeof basisSchema>;
  note?: string;
  models?: string;
}

/** Lists the facts of a profile with their paths, such as `results.image`. */
export function listFacts(profile: HostProfile): Array<{ path: string; fact: AnyFact }> {
  const { names, tools, description, instructions, schemas, arguments: args, timeout, results } = profile;
  const nested = Object.entries({ tools, schemas, results }).flatMap(([group, facts]) =>
    Object.entries(facts).map(([name, fact]): [string, AnyFact | undefined] => [`${group}.${name}`, fact]),
  );
  const flat = Object.entries({ names, description, instructions, arguments: args, timeout });
  return [...flat, ...nested].flatMap(([path, fact]) => (fact === undefined ? [] : [{ path, fact }]));
}
