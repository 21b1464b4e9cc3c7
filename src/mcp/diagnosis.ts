import type { JsonObject } from '../model/assertion.ts';

/** The steps, in their order; each needs what the one before it found. */
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

/** What the doctor found out about a server. */
export interface Diagnosis {
  /** `partial`: the server answers, and not everything that it declares works. */
  status: 'ready' | 'oauth_required' | 'partial' | 'error';
  /** What answered a bare GET; null where there was none. */
  probe: { url: string; status: number; contentType: string | null; wwwAuthenticate: string | null } | null;
  connection: { status: 'connected' | 'error' | 'skipped'; detail: string };
  /** How the server introduced itself; null where it did not. */
  initInfo: JsonObject | null;
  capabilities: JsonObject | null;
  tools: unknown[];
  resources: unknown[];
  resourceTemplates: unknown[];
  prompts: unknown[];
  checks: Record<DoctorStep, DoctorCheck>;
  /** Why the server is not ready; null where it is. */
  error: { code: 'OAUTH_REQUIRED' | 'SERVER_UNREACHABLE' | 'INCOMPLETE'; message: string } | null;
}

export type Probe = NonNullable<Diagnosis['probe']>;

const skipped: DoctorCheck = { status: 'skipped', detail: 'A step before it failed.' };

/** The diagnosis of a server that was not reached at all. */
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

/** The steps that the doctor got to, in their order. */
export function listTakenSteps({ checks }: Pick<Diagnosis, 'checks'>): DoctorStep[] {
  return doctorSteps.filter((step) => checks[step].detail !== skipped.detail);
}

/** The steps that found something, as one line: `probe ok (…); connection error (…)`. */
export function summarizeDiagnosis({ checks }: Pick<Diagnosis, 'checks'>): string {
  return listTakenSteps({ checks })
    .filter((step) => checks[step].status !== 'skipped')
    .map((step) => `${step} ${checks[step].status} (${checks[step].detail.replace(/\.$/, '')})`)
    .join('; ');
}
