import { ConfigurationError } from '../../../../src/base/errors.ts';
import type { Redactor } from '../../../../src/base/redaction.ts';
import { listenForInterrupts } from '../../../../src/gate/host-process.ts';
import { planCall, walkOperation } from '../../../../src/service/call-operation.ts';
import { listFields } from '../../../../src/service/operations/fields.ts';
import type { Operation } from '../../../../src/service/operations/operation.ts';
import { listOperations } from '../../../../src/service/operations/table.ts';
import { parseAs } from '../../../../src/service/parse.ts';
import { requireProject } from '../../../../src/service/project.ts';
import { findNearest } from '../../../../src/suite/findings.ts';
import { nameFlag } from '../../../../src/cli/field-flag.ts';
import { readFields } from './api-fields.ts';
import { renderOperationHelp } from './api-help.ts';
import { openServiceOfFlags } from './service-client.ts';

export interface ApiFlags {
  service?: 'svc' | 'mcpjam';
  all?: boolean;
  showSecrets?: boolean;
  idempotencyKey?: string;
  help?: boolean;
}

/** Prints the answer of an operation, or with `--help` its help. */
export async function callApi(
  name: string,
  words: readonly string[],
  { flags, texts, redactor }: { flags: ApiFlags; texts: Record<string, string>; redactor: Redactor },
): Promise<void> {
  const operation = requireOperation(name);
  if (flags.help === true) {
    process.stdout.write(renderOperationHelp(operation));
    return;
  }
  for await (const answer of callFromFlags(operation, words, { flags, texts, redactor })) {
    const { showSecrets = false } = flags;
    // JSON escapes ASCII control characters, which could control a terminal, but no others.
    const text = JSON.stringify(showSecrets ? answer : hideSecrets(answer, operation), null, 2);
    process.stdout.write(`${redactor.redact(text)}\n`);
  }
}

function requireOperation(name: string): Operation {
  const known = listOperations();
  const found = known.find((operation) => operation.name === name);
  if (found !== undefined) return found;
  const nearest = findNearest(
    name,
    known.map((operation) => operation.name),
  );
  const remedy = nearest === undefined ? '`mcp-eval-ci api --help` lists the operations' : `did you mean ${nearest}?`;
  const message = `${JSON.stringify(name)} is no operation; ${remedy}`;
  throw new ConfigurationError([{ input: 'operation', code: 'unknown-operation', message }]);
}

/** Yields the answer of the operation; with `--all`, one answer with the items of all pages. */
async function* callFromFlags(
  operation: Operation,
  words: readonly string[],
  { flags, texts, redactor }: { flags: ApiFlags; texts: Record<string, string>; redactor: Redactor },
): AsyncGenerator {
  // The project is resolved last, so that wrong words cost no request.
  const projectField = listFields(operation).find(({ name }) => name === 'projectId');
  // If the project is optional for the operation, it is sent only if a flag names it.
  const isAsked = projectField?.isRequired === true || (projectField !== undefined && Boolean(texts['project']));
  const isProjectOpen = isAsked && !hasProject(words);
  const fields = await readFields(operation, words, { preset: isProjectOpen ? { projectId: '' } : {} });
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const isPublic = operation.right === 'public';
  await using client = openServiceOfFlags({ service: flags.service ?? 'svc', texts, isPublic, redactor, signal });
  if (isProjectOpen && fields['projectId'] === '') {
    fields['projectId'] = (await requireProject(client, { project: texts['project'] || null })).id;
  }
  const { idempotencyKey } = flags;
  if (idempotencyKey !== undefined && 'idempotencyKey' in operation.body.shape)
    fields['idempotencyKey'] = idempotencyKey;
  const callOptions = idempotencyKey === undefined ? {} : { idempotencyKey };
  if (operation.cursor === undefined || flags.all !== true) {
    const check = parseAs(operation.answer, `that of ${operation.name}`);
    const parse = (answer: unknown) => (check(answer), answer);
    yield await client.call({ ...planCall(operation, fields, client.profile), parse, ...callOptions });
    return;
  }
  const items: unknown[] = [];
  for await (const page of walkOperation(client, operation, fields, { isRaw: true, ...callOptions })) {
    for (const item of page) {
      if (operation.cursor === 'headers') yield item;
      else items.push(item);
    }
  }
  if (operation.cursor !== 'headers') yield { items };
}

function hasProject(words: readonly string[]): boolean {
  const names = [nameFlag('projectId'), '--projectId'];
  return words.some((word) => names.some((name) => word === name || word.startsWith(`${name}=`)));
}

const hidden = '***';

/** Removes the secrets from an answer: the fields that the operation names, at any depth, and the value of `k` in URLs. */
export function hideSecrets(answer: unknown, { secrets = [] }: Pick<Operation, 'secrets'>): unknown {
  if (typeof answer === 'string') return hideUrlKeys(answer);
  if (Array.isArray(answer)) return answer.map((item) => hideSecrets(item, { secrets }));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      secrets.includes(name) && value !== null && value !== undefined ? hidden : hideSecrets(value, { secrets }),
    ]),
  );
}

/** Hides `k` in URLs: every caller that knows the `k` of a tunnel's public URL can call the server. */
function hideUrlKeys(text: string): string {
  return text.replaceAll(/([?&]k=)[^&#\s"'<>]+/g, `$1${hidden}`);
}
