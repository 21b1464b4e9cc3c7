import { z } from 'zod';

/** What the documentation, the action's metadata and the command's help say about one option. */
export interface OptionMeta {
  group: OptionGroup;
  /** How the value is written, for the help of the command: `<glob>`, or `[bool]` for a flag that is true without one. */
  hint: string;
  /** One short sentence, for the help of the command. */
  brief: string;
  /** Whether the value is a list, to which a flag that is given again adds a line. */
  isList?: true;
  /** Whether the value is a secret, or a list of secrets behind names. */
  isSecret?: true;
  /** Full sentences: what it does, the format, the default, what it excludes. */
  description: string;
  /** The text that stands for an absent value; empty where absence means something of its own. */
  default: string;
  /** What the runner fills in where the workflow says nothing, as an expression of its own. */
  runnerDefault?: string;
}

export type OptionGroup =
  | 'What runs'
  | 'The server under test'
  | 'The eval service'
  | 'The verdict'
  | 'Baseline and history'
  | 'Reports'
  | 'GitHub';

const optionMetas = z.registry<OptionMeta>();

/** An option: how its text is read, and how it is described. */
export function option<T extends z.ZodType>(schema: T, meta: OptionMeta): T {
  // A clone, since options of the same kind share a schema and the registry is keyed by it.
  const own = schema.clone();
  optionMetas.add(own, meta);
  return own;
}

export function describeOption(schema: z.ZodType): OptionMeta | undefined {
  return optionMetas.get(schema);
}
