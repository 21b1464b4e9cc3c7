import type { z } from 'zod';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { findBaselineIssues, findContradictions, findTunnelContradictions } from './options/contradictions.ts';
import { findMovedOptions } from './options/moved.ts';
import { describeOption, type OptionMeta } from './options/values.ts';
import { type GateOptions, gateOptionsSchema } from './options/schema.ts';

export interface OptionDescription extends OptionMeta {
  /** Kebab-case: the action's input and, after two dashes, the command's flag. */
  name: string;
}

/** Describes every option in the order in which people should read them. */
export function listOptions(): OptionDescription[] {
  return Object.entries(gateOptionsSchema.shape).flatMap(([key, schema]) => {
    const meta = describeOption(schema);
    return meta === undefined ? [] : [{ ...meta, name: toOptionName(key) }];
  });
}

/**
 * Reads the texts of an action's inputs or a command's flags, keyed by kebab-case name, into options. An absent or
 * blank value means the default.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseGateOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findContradictions);
}

/**
 * Reads the options of a tunnel that is hosted by hand: those of a gate, without anything to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseTunnelOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findTunnelContradictions);
}

/**
 * Reads the options of judging a report anew: those of a gate, without anything to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseJudgeOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findBaselineIssues);
}

function parseOptions(
  texts: Readonly<Record<string, string | undefined>>,
  findIssues: (options: GateOptions) => ConfigurationIssue[],
): GateOptions {
  const descriptions = listOptions();
  const parsed = gateOptionsSchema.safeParse(
    Object.fromEntries(
      descriptions.map(({ name, default: fallback }) => {
        const standIn = name === 'service' ? implyService(texts) : fallback;
        return [toOptionKey(name), isBlank(texts[name]) ? standIn : texts[name]];
      }),
    ),
  );
  const issues = [
    ...findMovedOptions(texts),
    ...(parsed.success ? [] : parsed.error.issues.map(toConfigurationIssue)),
    ...(parsed.success ? findIssues(parsed.data) : []),
  ];
  if (!parsed.success || issues.length > 0) throw new ConfigurationError(issues);
  return parsed.data;
}

/** Who names a service and a key for it means to use it; with `upload`, they are where the results go. */
function implyService(texts: Readonly<Record<string, string | undefined>>): 'svc' | 'embedded' {
  const isUploading = !isBlank(texts['upload']) && texts['upload']?.trim() !== 'off';
  return isBlank(texts['base-url']) || isBlank(texts['api-key']) || isUploading ? 'embedded' : 'svc';
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function toConfigurationIssue(zodIssue: z.core.$ZodIssue): ConfigurationIssue {
  const input = toOptionName(String(zodIssue.path[0]));
  return { input, code: `bad-${input}`, message: zodIssue.message };
}

function toOptionName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toOptionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
