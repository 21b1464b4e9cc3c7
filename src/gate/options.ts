import type { z } from 'zod';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { findBaselineIssues, findContradictions, findTunnelContradictions } from './options/contradictions.ts';
import { describeOption, type OptionMeta } from './options/option.ts';
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
        const text = texts[name] ?? '';
        return [toOptionKey(name), text.trim() === '' ? fallback : text];
      }),
    ),
  );
  const issues = [
    ...(parsed.success ? [] : parsed.error.issues.map(toConfigurationIssue)),
    ...(parsed.success ? findIssues(parsed.data) : []),
  ];
  if (!parsed.success || issues.length > 0) throw new ConfigurationError(issues);
  return parsed.data;
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
