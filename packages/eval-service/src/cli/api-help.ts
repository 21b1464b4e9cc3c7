import { listFields, nameType } from '../../../../src/service/operations/fields.ts';
import type { Operation } from '../../../../src/service/operations/operation.ts';
import { type OperationTable, operations } from '../../../../src/service/operations/table.ts';
import { nameFlag } from '../../../../src/cli/field-flag.ts';

const width = 80;

/** Lists the operations by area, for the end of the help of `api`. */
export function renderOperationList(table: OperationTable = operations): string {
  const areas = Object.entries(table).map(([area, described]) =>
    [`${area}:`, ...Object.values(described).map(({ name, summary }) => renderRow(name, summary))].join('\n'),
  );
  return areas.join('\n\n');
}

/** Renders the help of one operation: its request, its fields and its answer. */
export function renderOperationHelp(operation: Operation): string {
  const { name, summary, method, path, status, errors, cursor, right, needs } = operation;
  const fields = listFields(operation).map(({ name: field, schema, isRequired }) => {
    const notes = field === 'projectId' ? 'the project of --project' : isRequired ? 'required' : '';
    return renderRow(`${nameFlag(field)} <${nameType(schema)}>`, notes);
  });
  const facts = [
    `Answers ${status}; refusals: ${errors.join(', ')}.`,
    ...(cursor === undefined ? [] : ['Paged: prints one page, or with --all everything.']),
    ...(right === 'public' ? ['Needs no key.'] : []),
    ...(right === 'admin' ? ['Needs an administrator of the project.'] : []),
    ...(needs === undefined ? [] : [`The service needs ${needs}.`]),
  ];
  return [
    `Usage: mcp-eval-ci api ${name} [options] [--field value]`,
    '',
    ...wrap(summary, width),
    `${method} ${path}`,
    '',
    ...(fields.length === 0 ? ['It has no fields.'] : ['Fields:', ...fields]),
    '',
    ...facts.flatMap((fact) => wrap(fact, width)),
    'See `mcp-eval-ci api --help` for the options.',
    '',
  ].join('\n');
}

/** Renders a term and its description in two columns, within the width of a terminal. */
function renderRow(term: string, description: string): string {
  const indent = 34;
  const lines = wrap(description, width - indent);
  if (description === '') return `  ${term}`;
  const isLong = term.length > indent - 4;
  const head = isLong ? [`  ${term}`] : [];
  return [
    ...head,
    ...lines.map((line, index) => `${(index === 0 && !isLong ? `  ${term}` : '').padEnd(indent)}${line}`),
  ].join('\n');
}

function wrap(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
