import { escapeExpression } from '../base/text.ts';
import { hostname, userInfo } from 'node:os';
import { isRecord, listTexts } from '../base/json.ts';
import { isSensitiveKey, type Redactor, redactDeep, Secret } from '../base/redaction.ts';
import { isRandomToken } from '../base/secret-forms.ts';
import { volatileMark } from '../explore/stability/forms.ts';
import { mapTexts } from '../workspace/placeholders.ts';
import type { CapturedStep } from './session.ts';

/** What of the machine must not be in a file. */
export interface Machine {
  /** The directories that the workspace stands for: it and its copy, or else the working directory. */
  inside: readonly string[];
  user: string;
  host: string;
}

/** A step without secrets and without anything of the machine. */
export interface CleanStep extends CapturedStep {
  /** True if its request had a secret, which is lost. */
  hadSecret: boolean;
}

/** Forms of tokens that issuers give away, wherever they are. */
const tokenForms =
  /\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}|\b(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|npm_|hf_)[A-Za-z0-9_-]{16,}|\bAKIA[A-Z0-9]{16}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<=\b[Bb]earer )[\w.~+/=-]{8,}/g;

/** Adds the values of variables that may be secrets: by their name, or because they read as a token or have a password. */
export function addEnvironmentSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  redactor: Redactor,
): void {
  for (const [name, value = ''] of Object.entries(environment)) {
    const hasPassword = value.includes('://') && (URL.parse(value)?.password ?? '') !== '';
    if (isSensitiveKey(name) || isRandomToken(value) || hasPassword) redactor.add(new Secret(value));
  }
}

/** Adds the values of arguments that are named as secrets, and tokens in any text. */
function addSessionSecrets(steps: readonly CapturedStep[], redactor: Redactor): void {
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isRecord(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && isSensitiveKey(name)) redactor.add(new Secret(member));
      else visit(member);
    }
  };
  for (const { request, outcome, asked } of steps) {
    visit([request, asked]);
    for (const { text } of listTexts([request, outcome, asked])) {
      for (const [token] of text.matchAll(tokenForms)) redactor.add(new Secret(token));
    }
  }
}

/** What the redactor leaves of a secret. */
const redacted = new Secret('').toString();

/** Names that say nothing about a person or a machine. */
const commonNames = /^(?:root|runner|user|admin|node|app|ubuntu|debian|vscode|localhost)$/i;

/** An absolute path below a directory that differs between machines. Files that each system has stay. */
const absolutePath =
  /(?<![\w.}/])\/(?!(?:etc\/(?:passwd|hosts|shadow|hostname)|dev\/null)\b)(?:etc|home|mnt|opt|private|root|srv|tmp|usr|Users|var|work|Volumes)(?:\/[^\s"'`,;:)\]}]*)?/g;

/** Removes secrets, paths and names of the machine from steps. The same value stays the same in each step. */
export function cleanSteps(steps: readonly CapturedStep[], machine: Machine, redactor: Redactor): CleanStep[] {
  addSessionSecrets(steps, redactor);
  return steps.map((step) => {
    const { request, outcome, asked } = redactDeep(step, redactor);
    return {
      timeMs: step.timeMs,
      session: step.session,
      request: mapTexts(request, (text) => hideRequest(text, machine)),
      outcome: mapTexts(outcome, (text) => hideAnswer(text, machine)),
      asked: mapTexts(asked, (text) => hideRequest(text, machine)),
      // The journal is redacted already.
      hadSecret: [...listTexts([request, asked])].some(({ text }) => text.includes(redacted)),
    };
  });
}

function hideRequest(text: string, machine: Machine): string {
  // A directory outside stays outside.
  const outside = hideInside(text, machine).replaceAll(
    absolutePath,
    (path) => `{{workspace}}/../${path.split('/').findLast((part) => part !== '') ?? ''}`,
  );
  return hideNames(outside, machine, 'user');
}

function hideAnswer(text: string, machine: Machine): string {
  return hideNames(hideInside(text, machine), machine, volatileMark);
}

function hideInside(text: string, { inside }: Machine): string {
  const longestFirst = inside.filter((path) => path.length > 1).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce(
    (hidden, path) => hidden.replaceAll(new RegExp(`${escapeExpression(path)}(?![\\w-])`, 'g'), '{{workspace}}'),
    text,
  );
}

function hideNames(text: string, { user, host }: Machine, replacement: string): string {
  return [user, host]
    .filter((name) => name.length > 2 && !commonNames.test(name))
    .reduce(
      (hidden, name) => hidden.replaceAll(new RegExp(`(?<!\\w)${escapeExpression(name)}(?!\\w)`, 'g'), replacement),
      text,
    );
}

/** Reads the names that paths and answers of this machine contain. */
export function readMachine(): Pick<Machine, 'user' | 'host'> {
  return { user: readUser(), host: hostname() };
}

function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
