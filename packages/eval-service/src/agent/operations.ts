import { z } from 'zod';
import { draftSchema, findDraftProblem, toCaseFields } from '../generate/draft.ts';
import { renderFirstIssue } from '../request.ts';

/** A request to a route of the project. The path starts after the project. */
export interface RouteRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

/** The texts that the person who approves sees; for display only. */
export type Approval = {
  description: string;
  buttonLabel: string;
  kind: 'start' | 'cancel' | 'generate' | 'external';
  confirmSeverity?: 'spend' | 'external';
  target?: { type: string; selector: string };
};

/** One call of an operation. `approval` is null if the operation is executed at once. */
export interface OperationCall {
  input: unknown;
  request: RouteRequest;
  approval: Approval | null;
  /** Returns the part of the answer that the model gets. */
  show(answer: unknown): unknown;
  /** Lists the records that the request created, according to the answer. */
  listCreated(answer: unknown): CreatedRecord[];
}

interface CreatedRecord {
  type: string;
  id: string;
  name: string;
  /** Starts after the project. */
  path: string;
}

/** An operation of the API that the agent can use, but only in its own project. */
export interface ProjectOperation {
  name: string;
  description: string;
  readonly inputSchema: Record<string, unknown>;
  needsApproval: boolean;
  /** Reads the arguments, or describes for the model which part of them is wrong. */
  read(args: unknown): OperationCall | { problem: string };
}

interface Definition<Input> {
  description: string;
  input: z.ZodType<Input>;
  request: (input: Input) => RouteRequest;
  approval?: (input: Input) => Approval;
  show?: (answer: unknown) => unknown;
  listCreated?: (answer: unknown, input: Input) => CreatedRecord[];
}

function define<Input>(name: string, definition: Definition<Input>): ProjectOperation {
  const { description, input, request, approval, show = (answer) => answer, listCreated = () => [] } = definition;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return {
    name,
    description,
    inputSchema,
    needsApproval: approval !== undefined,
    read: (args) => {
      const parsed = input.safeParse(args);
      if (!parsed.success) return { problem: renderFirstIssue(parsed.error) };
      const { data } = parsed;
      return {
        input: data,
        request: request(data),
        approval: approval?.(data) ?? null,
        show,
        listCreated: (answer) => listCreated(answer, data),
      };
    },
  };
}

/** Ids become segments of a path, so no other characters are allowed. All ids of this service match. */
const id = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'Expected an id');
const suite = z.strictObject({ suiteId: id });
const run = z.strictObject({ runId: id });
const nothing = z.strictObject({});
const drafts = z
  .array(draftSchema)
  .min(1)
  .max(50)
  .superRefine((cases, context) => {
    for (const [index, draft] of cases.entries()) {
      const message = findDraftProblem(draft, null);
      if (message !== null) context.addIssue({ code: 'custom', path: [index], message });
    }
  });

const suiteTarget = (suiteId: string) => ({ target: { type: 'eval_suite', selector: suiteId } });
/** Leaves out the URL: its path or query may contain the key of the server, and a provider does not need it. */
const serversAnswer = z.object({
  items: z.array(z.object({ id: z.string(), name: z.string(), enabled: z.boolean(), transportType: z.string() })),
});
const suiteAnswer = z.looseObject({ suiteId: z.string(), name: z.string() });
const batchAnswer = z.looseObject({ created: z.array(z.looseObject({ id: z.string(), title: z.string() })) });

export const runSuiteOperation = define('run_eval_suite', {
  description: 'Proposes to run an eval suite.',
  input: suite,
  request: ({ suiteId }) => ({ method: 'POST', path: '/eval-runs', body: { suiteId } }),
  approval: ({ suiteId }) => ({
    description: `Run eval suite ${suiteId}`,
    buttonLabel: 'Run it',
    kind: 'start',
    confirmSeverity: 'spend',
    ...suiteTarget(suiteId),
  }),
});

/** Lists the operations. Those with an approval cost money or cannot be undone. `model` is used for suites that name no model. */
export function listOperations(model: string): ProjectOperation[] {
  return [
    define('list_project_servers', {
      description: 'Lists the MCP servers of the project, with their ids.',
      input: nothing,
      request: () => ({ method: 'GET', path: '/servers' }),
      show: (answer) => serversAnswer.parse(answer),
    }),
    define('list_eval_suites', {
      description: 'Lists the eval suites of the project, with the latest run of each.',
      input: nothing,
      request: () => ({ method: 'GET', path: '/eval-suites' }),
    }),
    define('get_eval_suite', {
      description: 'Reads the settings of an eval suite.',
      input: suite,
      request: ({ suiteId }) => ({ method: 'GET', path: `/eval-suites/${suiteId}` }),
    }),
    define('list_eval_cases', {
      description: 'Lists the cases of an eval suite.',
      input: suite,
      request: ({ suiteId }) => ({ method: 'GET', path: `/eval-suites/${suiteId}/cases` }),
    }),
    define('list_eval_suite_runs', {
      description: 'Lists the runs of an eval suite, newest first.',
      input: suite,
      request: ({ suiteId }) => ({ method: 'GET', path: `/eval-suites/${suiteId}/runs` }),
    }),
    define('get_eval_run', {
      description: 'Reads the status, result and counts of a run.',
      input: run,
      request: ({ runId }) => ({ method: 'GET', path: `/eval-runs/${runId}` }),
    }),
    define('list_eval_run_iterations', {
      description: 'Lists the iterations of a run: results, errors and tool calls.',
      input: run,
      request: ({ runId }) => ({ method: 'GET', path: `/eval-runs/${runId}/iterations?limit=50` }),
    }),
    define('create_eval_suite', {
      description: 'Creates an eval suite with its cases. It runs nothing.',
      input: z.strictObject({
        name: z.string().trim().min(1).max(200),
        description: z.string().max(2000).optional(),
        serverIds: z.array(id).min(1).max(20),
        model: z.string().min(1).max(200).optional().describe('provider/name; leave it out unless the user names one.'),
        cases: drafts,
      }),
      request: ({ cases, model: named, description, ...rest }) => ({
        method: 'POST',
        path: '/eval-suites',
        body: {
          ...rest,
          ...(description === undefined ? {} : { description }),
          model: named ?? model,
          tests: cases.map((draft) => ({ ...toCaseFields(draft), isNegativeTest: draft.isNegative })),
        },
      }),
      listCreated: (answer) => {
        const { suiteId, name } = suiteAnswer.parse(answer);
        return [{ type: 'eval_suite', id: suiteId, name, path: `/eval-suites/${suiteId}` }];
      },
    }),
    define('create_eval_cases', {
      description: 'Adds cases to an eval suite.',
      input: z.strictObject({ suiteId: id, cases: drafts }),
      request: ({ suiteId, cases }) => ({
        method: 'POST',
        path: `/eval-suites/${suiteId}/cases/batch`,
        body: { cases: cases.map((draft) => ({ ...toCaseFields(draft), isNegative: draft.isNegative })) },
      }),
      listCreated: (answer, { suiteId }) =>
        batchAnswer.parse(answer).created.map((created) => ({
          type: 'eval_case',
          id: created.id,
          name: created.title,
          path: `/eval-suites/${suiteId}/cases/${created.id}`,
        })),
    }),
    runSuiteOperation,
    define('generate_eval_cases', {
      description: 'Proposes to have a model write cases for an eval suite from the tools of its server.',
      input: z.strictObject({ suiteId: id, mode: z.enum(['normal', 'negative']).optional() }),
      request: ({ suiteId, mode }) => ({
        method: 'POST',
        path: `/eval-suites/${suiteId}/cases/generate`,
        body: mode === undefined ? {} : { mode },
      }),
      approval: ({ suiteId }) => ({
        description: `Generate cases for eval suite ${suiteId}`,
        buttonLabel: 'Generate them',
        kind: 'generate',
        confirmSeverity: 'spend',
        ...suiteTarget(suiteId),
      }),
    }),
    define('cancel_eval_run', {
      description: 'Proposes to cancel a run.',
      input: run,
      request: ({ runId }) => ({ method: 'POST', path: `/eval-runs/${runId}/cancel` }),
      approval: ({ runId }) => ({
        description: `Cancel eval run ${runId}`,
        buttonLabel: 'Cancel the run',
        kind: 'cancel',
        target: { type: 'eval_run', selector: runId },
      }),
    }),
  ];
}
