import type { JsonObject } from '../base/json.ts';

/** The steps in their order; each needs the result of the previous one. */
export const doctorSteps = [
  'probe',
  'connection',
  'initialization',
  'capabilities',
  'tools',
  'resources',
  'resourceTemplates',
  'prompts',
] as const;
export type DoctorStep = (typeof doctorSteps)[number];

/** The outcome of a step; the detail is a sentence. */
export interface DoctorCheck {
  status: 'ok' | 'error' | 'skipped';
  detail: string;
}

/** The doctor's findings about a server. */
export interface Diagnosis {
  /** `partial`: the server answers, but not everything that it declares works. */
  status: 'ready' | 'oauth_required' | 'partial' | 'error';
  /** The answer to a bare GET; null if there was none. */
  probe: { url: string; status: number; contentType: string | null; wwwAuthenticate: string | null } | null;
  connection: { status: 'connected' | 'error' | 'skipped'; detail: string };
  /** The server's introduction of itself; null if there was none. */
  initInfo: JsonObject | null;
  capabilities: JsonObject | null;
  tools: unknown[];
  resources: unknown[];
  resourceTemplates: unknown[];
  prompts: unknown[];
  checks: Record<DoctorStep, DoctorCheck>;
  /** The reason why the server is not ready; null if it is ready. */
  error: { code: 'OAUTH_REQUIRED' | 'SERVER_UNREACHABLE' | 'INCOMPLETE'; message: string } | null;
}

export type Probe = NonNullable<Diagnosis['probe']>;

const skipped: DoctorCheck = { status: 'skipped', detail: 'A step before it failed.' };

/** Makes the diagnosis of a server that was not reached at all. */
export function createFailedDiagnosis(check: DoctorCheck, answer: Probe | null = null): Diagnosis {
  return {
    status: 'error',
    probe: answer,
    connection: { status: 'skipped', detail: skipped.detail },
    initInfo: null,
    capabilities: null,
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
    checks: {
      probe: check,
      connection: skipped,
      initialization: skipped,
      capabilities: skipped,
      tools: skipped,
      resources: skipped,
      resourceTemplates: skipped,
      prompts: skipped,
    },
    error: { code: 'SERVER_UNREACHABLE', message: check.detail },
  };
}

/** Lists the steps that the doctor reached, in their order. */
export function listTakenSteps({ checks }: Pick<Diagnosis, 'checks'>): DoctorStep[] {
  return doctorSteps.filter((step) => checks[step].detail !== skipped.detail);
}

/** Summarizes the steps with a result on one line: `probe ok (…); connection error (…)`. */
export function summarizeDiagnosis({ checks }: Pick<Diagnosis, 'checks'>): string {
  return listTakenSteps({ checks })
    .filter((step) => checks[step].status !== 'skipped')
    .map((step) => `${step} ${checks[step].status} (${checks[step].detail.replace(/\.$/, '')})`)
    .join('; ');
}
