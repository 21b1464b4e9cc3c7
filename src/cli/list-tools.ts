import { isRecord, type JsonObject, listRecords } from '../base/json.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { placeServer } from '../gate/place-server.ts';
import { openServerSession, planOneServer } from '../gate/reach-server.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import type { OutputFormat } from './format-flag.ts';
import { createStderrLogger } from './command-logger.ts';

/** Prints the tools of the server of these options. */
export async function listTools(
  texts: Readonly<Record<string, string>>,
  { format, redactor }: { format: OutputFormat; redactor: Redactor },
): Promise<void> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor);
  const options = parseDoctorOptions(texts);
  const cwd = process.cwd();
  const planned = await planOneServer(options, { cwd, environment });
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  await using placed = await placeServer(planned, { workspace: options.workspace, cwd });
  await using reached = await openServerSession(placed.server, {
    clock: systemClock,
    logger,
    redactor,
    signal,
    environment,
  });
  const { session } = reached;
  const hasTools = session.capabilities['tools'] !== undefined;
  const answer = hasTools ? await session.request({ method: 'tools/list' }, { signal }) : { tools: [] };
  const listed: unknown = isRecord(answer) ? answer['tools'] : undefined;
  const tools = redactDeep(listRecords(listed), redactor);
  stdout.write(format === 'json' ? `${JSON.stringify(tools, null, 2)}\n` : renderTools(tools));
}

/** Formats tools for people: name, hints and description, and a line for each argument. */
export function renderTools(tools: readonly JsonObject[]): string {
  const blocks = tools.map((tool) => {
    const { name, description, annotations, inputSchema, outputSchema } = tool;
    const hints = isRecord(annotations) ? Object.entries(annotations).filter(([, value]) => value === true) : [];
    const marks = [...hints.map(([hint]) => hint), ...(isRecord(outputSchema) ? ['outputSchema'] : [])];
    const head = `${String(name)}${marks.length > 0 ? `  (${marks.join(', ')})` : ''}`;
    const lines = typeof description === 'string' ? description.trim().split(/\r?\n/) : [];
    return [head, ...lines.map((line) => `  ${line}`), ...listArguments(inputSchema)]
      .map((line) => escapeTerminalText(line).trimEnd())
      .join('\n');
  });
  return [...blocks, `${formatCount(tools.length, 'tool')}.`].join('\n\n').concat('\n');
}

function listArguments(schema: unknown): string[] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const required: unknown[] = isRecord(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties);
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => {
    const property = properties[name];
    const need = required.includes(name) ? 'required' : 'optional';
    const description =
      isRecord(property) && typeof property['description'] === 'string' ? property['description'] : '';
    return `  - ${name.padEnd(width)}  ${describeType(property)}, ${need}${description === '' ? '' : `: ${description.replaceAll(/\s+/g, ' ')}`}`;
  });
}

function describeType(schema: unknown): string {
  if (!isRecord(schema)) return 'any';
  const { type, enum: members, const: constant, anyOf, oneOf, items } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(members)) return members.map((member) => JSON.stringify(member)).join(' | ');
  const options: unknown = anyOf ?? oneOf;
  if (Array.isArray(options)) return [...new Set(options.map((option) => describeType(option)))].join(' | ');
  if (type === 'array') return `list of ${describeType(items)}`;
  if (Array.isArray(type)) return type.join(' | ');
  return typeof type === 'string' ? type : 'any';
}
