import { gateOptionsSchema } from './schema.ts';
import { describeOption, type OptionMeta } from './values.ts';

export interface OptionDescription extends OptionMeta {
  /** The kebab-case name of the action's input and, after two dashes, of the command's flag. */
  name: string;
}

/** Describes every option, in the order of the documentation. */
export function listOptions(): OptionDescription[] {
  return Object.entries(gateOptionsSchema.shape).flatMap(([key, schema]) => {
    const meta = describeOption(schema);
    return meta === undefined ? [] : [{ ...meta, name: toOptionName(key) }];
  });
}

export function toOptionName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function toOptionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
