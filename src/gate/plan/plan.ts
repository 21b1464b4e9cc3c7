import type { ConfigurationIssue } from '../../base/errors.ts';
import { createFindings, type Findings } from '../../base/findings.ts';
import { systemClock } from '../../base/time.ts';
import type { Secret } from '../../base/redaction.ts';
import {
  applyPricingDefaults,
  defaultMaximumRegressions,
  type GatePolicy,
  type GateRules,
} from '../../model/policy.ts';
import type { Revision, ShardReport } from '../../model/report.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { listUnmatchedSuites } from '../../verdict/merge-policies.ts';
import { type CiJob, readCiJob } from './ci-job.ts';
import type { PlannedBase } from './plan-base.ts';
import { hasBase } from '../options/base.ts';
import { type GateOptions, nameJobSlot } from '../options/schema.ts';
import { type PageLinks, planGitHub, type PlannedGitHub, readRun } from './plan-github.ts';
import type { ReportFormat } from '../options/values.ts';
import { type PlannedCollector, planTraces } from './otel-variables.ts';
import { listRanCases, planMerge, type PlannedMerge } from './plan-merge.ts';
import { type PlannedPast, planPast, markProbation } from './plan-past.ts';
import type { PlannedModels } from './plan-models.ts';
import { checkJudges, planPrompts } from './plan-prompts.ts';
import { planSandbox } from './plan-sandbox.ts';
import { findVariableIssues, type PlannedServer } from './plan-server.ts';
import { checkElevatedEvent, planServers } from './plan-servers.ts';
import {
  findUnreachableServer,
  type PlannedService,
  type PlannedUpload,
  planService,
  planUpload,
} from './plan-service.ts';
import { findRuleIssues } from './rule-issues.ts';
import { findCommandsAlone, type PlannedSuite, planSuites } from './plan-suites.ts';
import { findLinkIssues, type PlannedReportDir, planReportDir } from './report-dir.ts';
import { findAmbiguousNames, groupReported } from './resolve-names.ts';
import { loadPolicy } from './plan-policy.ts';
import { type PlannedSnapshots, planSnapshots } from './plan-snapshots.ts';
import { planShard } from './plan-shard.ts';
import { planCoverage, planSurface, type PlannedCoverage, type PlannedSurface } from './plan-surface.ts';

/** Everything that the gate is going to do, decided and checked; nothing has been started, created or written yet. */
export interface GatePlan extends PlannedPast {
  /** The working directory of the gate; paths of reports and evals files are relative to it. */
  cwd: string;
  suites: PlannedSuite[];
  /** Empty if a suite of the service runs on the servers saved in the service. */
  servers: PlannedServer[];
  /** The base that the change is compared with in the same job; null for none. */
  base: PlannedBase | null;
  /** The variables that `server-env` passes on, by name. */
  variables: ReadonlyMap<string, Secret>;
  service: PlannedService;
  /** The tested commit and branch, as far as they are known; null if neither is. */
  revision: Revision | null;
  /** The shard of the cases that this gate runs; null for all cases. */
  shard: ShardReport | null;
  /** The shards that are judged as one gate, instead of everything above; null if the gate runs evals. */
  merge: PlannedMerge | null;
  timeoutMs: number;
  isolation: 'iteration' | 'run';
  /** True if a run is cancelled as soon as its verdict is settled. */
  stopsEarly: boolean;
  reportDir: PlannedReportDir;
  reportFormats: readonly ReportFormat[];
  /** The links to the repository's pages; null if it is not on GitHub. */
  page: PageLinks | null;
  isFullReport: boolean;
  annotations: boolean;
  summary: boolean;
  /** The posts of the gate on GitHub in addition to the job's own results; null for none. */
  github: PlannedGitHub | null;
  /** True if traces are written for OpenTelemetry. */
  hasTraceLog: boolean;
  /** The description of the traced program from the environment, in addition to what the gate knows. */
  traceResource: Readonly<Record<string, string>>;
  /** The receiver of the traces; null for none. */
  collector: PlannedCollector | null;
  /** The models that prompts ask; null if no case of a file has a prompt, or if a hosted service asks them. */
  models: PlannedModels | null;
  /** The snapshots that `toMatchFile` compares with; null if no case uses it. */
  snapshots: PlannedSnapshots | null;
  /** Null if the surface of the server is not compared. */
  surface: PlannedSurface | null;
  /** Null if the coverage of the evals is not measured. */
  coverage: PlannedCoverage | null;
  /** The project that the results are uploaded to after the verdict; null for none. */
  upload: PlannedUpload | null;
  isDryRun: boolean;
  /** Notes on what will differ from the evals files, one sentence each. */
  notes: string[];
  /** Remarks on the plan for the log that are no warnings, one sentence each. */
  remarks: string[];
  /** Notes on the policy for readers of the verdict, one sentence each. */
  policyNotes: string[];
  /** The findings on where the change lowers what its base protects. */
  protectionFindings: VerdictReason[];
  /** The limits of regressions against the baseline, and the prices of model calls. */
  limits: Pick<GatePolicy, 'maximumRegressions' | 'maximumRateDrop' | 'prices' | 'currency'>;
  /** All values of the plan that no output may show. */
  secrets: readonly Secret[];
}

/** The inputs of the plan in addition to the options; passed in, so that planning does not read the process. */
export interface PlanContext {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds, for the age of calibrations; the default is the machine's time. */
  nowMs?: number;
  /** True if the results become the snapshots. */
  updatesSnapshots?: boolean;
}

/**
 * Reads the evals files and turns all options into a plan.
 *
 * @throws {ConfigurationError} with every finding of every file and every option at once.
 */
export async function planGate(options: GateOptions, context: PlanContext): Promise<GatePlan> {
  const findings = createFindings();
  const { nowMs = systemClock.now(), updatesSnapshots = false } = context;
  const ci = await readCiJob(options, context);
  const service = planService(options, { ci, environment: context.environment }, findings);
  const joining = options.merge.length === 0 ? null : await planMerge(options, { cwd: context.cwd }, findings);
  const policy = await loadPolicy(options, { ...context, ci }, findings.issues);
  const rules = policy.gate;
  const { history, baseline } = await planPast(options, { cwd: context.cwd, base: policy.base }, findings);
  const ofServers = createFindings();
  const { servers, variables } = await planServers(options, context, ofServers);
  findings.noteAll(ofServers.notes);
  const serverNames = servers.flatMap(({ name }) => name ?? []);
  const sources = { cwd: context.cwd, ci, profile: service.profile, policy, serverNames };
  const all = joining !== null ? [] : await planSuites(options, sources, findings);
  const merge = joining === null ? null : { ...joining, rules: { ...joining.rules, policy: policy.file } };
  const joined = merge === null ? [] : groupReported(merge.results);
  const suiteNames = merge === null ? all.map(nameSuite) : joined;
  if (policy.file !== null) findings.addAll(findAmbiguousNames(policy.file, joined));
  for (const suite of merge === null ? [] : suiteNames) policy.base?.compareStored(suite);
  if (merge?.selection !== undefined) await policy.base?.compareShards(listRanCases(merge), merge.selection);
  if (policy.file !== null) findings.noteAll(listUnmatchedSuites(policy.file, suiteNames));
  const { suites, shard } = planPart(planProbation(all, { rules, history }), { options, history }, findings);
  findings.addAll([...ofServers.issues, ...findVariableIssues(options, suites)]);
  checkElevatedEvent(options, ci.elevatedEvent, findings);
  const reportDir = await planReportDir(options.reportDir ?? '.', context, findings);
  findings.addAll(findLinkIssues('report-dir', reportDir.path, reportDir.root));
  const { planBase } = hasBase(options) ? await import('./plan-base.ts') : { planBase: null };
  const compared = { ...context, ci, servers, variables, suites: all, shard };
  const base = (await planBase?.(options, compared, findings)) ?? null;
  for (const server of [...servers, ...(base?.servers ?? [])]) {
    const cache = base?.cachePath ?? null;
    const checkout = base?.servers.includes(server) === false ? (base.checkout?.directory ?? null) : null;
    const directories = { reportDir: reportDir.path, cache, checkout };
    const surroundings = { ...context, ...directories, serverCwd: server.cwd, suites };
    server.sandbox = await planSandbox(options, surroundings, findings);
  }
  if (merge === null) findings.addAll(findRuleIssues(rules, { options, suites }));
  findings.addAll([
    ...servers.flatMap((server) => findUnreachableServer(service, server)),
    ...findCommandsAlone(suites, servers),
    ...findUnenforceablePins(service, { options, suites }),
  ]);
  if (baseline !== null && baseline.runId !== null && all.length > 1) {
    const message = `names one run, and this gate has ${all.length} suites, each with runs of its own; name a branch`;
    findings.add({ input: 'baseline', code: 'one-run-for-several', message });
  }
  const github = await planComment(options, context, findings);
  const traces = planTraces(options, context, findings);
  const { collector } = traces;
  const upload = planUploading(options, { ...context, ci }, findings);
  const pricing = applyPricingDefaults(rules);
  if (service.hosted === null) findings.addAll(await checkJudges(suites, { cwd: context.cwd, nowMs }));
  const models = await planPrompts(options, { ...context, suites, service, pricing }, findings);
  const snapshots = await planSnapshots(suites, context, findings);
  const surface = await planSurface(options, { ...context, rules, base }, findings);
  findings.throwIfAny();

  return {
    cwd: context.cwd,
    suites,
    shard,
    merge,
    servers,
    base: updatesSnapshots ? null : base,
    variables,
    service,
    baseline,
    history,
    revision: ci.commit === null && ci.line === null ? null : { commit: ci.commit, branch: ci.line },
    timeoutMs: options.timeout,
    isolation: options.isolation,
    stopsEarly: rules.stopEarly?.value ?? false,
    reportDir,
    reportFormats: options.reportFormats,
    page:
      ci.system === 'github' && ci.repository !== null
        ? readRun(context.environment, { cwd: context.cwd, jobSlot: nameJobSlot(options) }).page
        : null,
    isFullReport: options.reportFormats.includes('iterations'),
    annotations: options.reportTo.annotations,
    summary: options.reportTo.summary,
    github,
    collector,
    hasTraceLog: traces.resource !== null,
    traceResource: traces.resource ?? {},
    upload,
    models,
    snapshots,
    surface,
    coverage: planCoverage(options, { rules, isHosted: service.hosted !== null }),
    isDryRun: options.dryRun,
    notes: findings.notes,
    remarks: [...policy.remarks, ...findings.remarks],
    policyNotes: policy.notes,
    protectionFindings: policy.base?.listFindings() ?? [],
    limits: {
      maximumRegressions: rules.maximumRegressions ?? defaultMaximumRegressions,
      maximumRateDrop: rules.maximumRateDrop,
      ...applyPricingDefaults(rules),
    },
    secrets: [service, ...servers, base, ...(base?.servers ?? []), github, collector, upload, models].flatMap(
      (part) => part?.secrets ?? [],
    ),
  };
}

function planProbation(
  suites: PlannedSuite[],
  { rules, history }: { rules: GateRules; history: GatePlan['history'] },
): PlannedSuite[] {
  const neededGates = rules.probation?.value ?? 0;
  if (neededGates === 0) return suites;
  return markProbation(suites, { neededGates, records: history?.records ?? [] });
}

async function planComment(
  options: GateOptions,
  context: PlanContext,
  findings: Findings,
): Promise<PlannedGitHub | null> {
  const { comment, checkRun, issue } = options.reportTo;
  if (comment === null && !checkRun && !issue) return null;
  return await planGitHub(options, context, findings);
}

function planUploading(
  { upload, ...options }: GateOptions,
  context: PlanContext & { ci: CiJob },
  findings: Findings,
): PlannedUpload | null {
  if (upload === 'off') return null;
  return planUpload({ ...options, upload }, context, findings);
}

function planPart(
  suites: PlannedSuite[],
  { options, history }: { options: GateOptions; history: GatePlan['history'] },
  findings: Findings,
): Pick<GatePlan, 'suites' | 'shard'> {
  if (options.shard === null) return { suites, shard: null };
  const files = suites.filter((planned) => planned.kind === 'file');
  const { suites: own, shard } = planShard(files, options.shard, history?.records ?? [], findings);
  const { evals, cases, tags } = options;
  return { suites: own, shard: { ...shard, selection: { evals, cases, tags } } };
}

function nameSuite(planned: PlannedSuite): { id: string; name: string } {
  return planned.kind === 'file' ? planned.suite : { id: planned.suite, name: planned.suite };
}

/**
 * Finds requested revisions that cannot be enforced: a hosted service negotiates with the server by itself, and its API has no field for a
 * revision.
 */
function findUnenforceablePins(
  { hosted, profile }: PlannedService,
  { options, suites }: { options: GateOptions; suites: readonly PlannedSuite[] },
): ConfigurationIssue[] {
  if (hosted === null) return [];
  const why = `cannot be enforced, because the service ${profile.name} chooses the revision itself`;
  const isPinned = options.protocol !== null && options.protocol !== 'auto';
  if (isPinned) {
    const message = `${why}; leave it out, or use \`service: embedded\``;
    return [{ input: 'protocol', code: 'needs-embedded-service', message }];
  }
  const remedy = 'set the key to auto, override it with the flag `--protocol auto`, or use `service: embedded`';
  return suites.flatMap((planned): ConfigurationIssue[] => {
    if (planned.kind === 'stored' || planned.protocol.value === 'auto') return [];
    const message = `\`protocol: ${planned.protocol.value}\` ${why}; ${remedy}`;
    const [, file = planned.suite.location.file, line = ''] = /^(.*):(\d+)$/.exec(planned.protocol.source) ?? [];
    return [{ file, line: Number(line), column: 1, code: 'needs-embedded-service', message }];
  });
}
