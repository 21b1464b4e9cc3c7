import type { ConfigurationIssue } from '../../base/errors.ts';
import { createFindings, type Findings } from '../../base/findings.ts';
import type { Secret } from '../../base/redaction.ts';
import {
  applyLimitDefaults,
  applyPricingDefaults,
  emptyPolicyLayer,
  type GatePolicy,
  type GateRules,
} from '../../model/policy.ts';
import type { Revision, ShardReport } from '../../model/report.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { listUnmatchedSuites } from '../../verdict/merge-policies.ts';
import type { PlannedBehaviour } from './plan-behaviour.ts';
import type { PlannedCheckModules } from './plan-check-modules.ts';
import { readCiJob } from './ci-job.ts';
import type { PlannedBase } from './plan-base.ts';
import { hasBase } from '../options/base.ts';
import type { OwnCheck } from '../../checks/own-check.ts';
import type { GateOptions } from '../options/schema.ts';
import { type PageLinks, planGitHub, type PlannedGitHub, planPage } from './plan-github.ts';
import type { ReportFormat } from '../options/values.ts';
import { type PlannedTraces, planTraces } from './otel-variables.ts';
import { listRanCases, planMerge, type PlannedMerge } from './plan-merge.ts';
import { findSharedBaseline, markProbation, type PlannedPast, planPast } from './plan-past.ts';
import type { PlannedModels } from './plan-models.ts';
import { planPrompts } from './plan-prompts.ts';
import { planSandboxes } from './plan-sandbox.ts';
import type { ProviderSources } from '../../models/providers.ts';
import type { ServerFactory } from '../../server/in-process-server.ts';
import { findVariableIssues, type PlannedServer } from './plan-server.ts';
import { checkElevatedEvent, planServers } from './plan-servers.ts';
import {
  findUnenforceablePins,
  findUnreachableServer,
  type PlannedService,
  type PlannedUpload,
  planService,
  planUpload,
} from './plan-service.ts';
import { findRuleIssues } from './rule-issues.ts';
import { findCommandsAlone, type InlineSuite, type PlannedSuite, planSuites } from './plan-suites.ts';
import { type PlannedReportDir, planReportDir } from './report-dir.ts';
import { findAmbiguousNames, groupReported } from './resolve-names.ts';
import { type LoadedPolicy, loadPolicy } from './plan-policy.ts';
import { type PlannedSnapshots, planSnapshots } from './plan-snapshots.ts';
import { planShard } from './plan-shard.ts';
import { findWorkspaceIssues } from './workspace-issues.ts';
import {
  planCoverage,
  planHosts,
  planSurface,
  type PlannedCoverage,
  type PlannedHosts,
  type PlannedSurface,
} from './plan-surface.ts';

/** Everything that the gate is going to do, decided and checked; nothing has been started, created or written yet. */
export interface GatePlan extends PlannedPast, PlannedTraces {
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
  /** True if the gate stops at the first failure. */
  bails: boolean;
  reportDir: PlannedReportDir;
  reportFormats: readonly ReportFormat[];
  /** The links to the repository's pages; null if it is not on GitHub. */
  page: PageLinks | null;
  isFullReport: boolean;
  annotations: boolean;
  summary: boolean;
  /** The posts of the gate on GitHub in addition to the job's own results; null for none. */
  github: PlannedGitHub | null;
  /** The models that prompts ask; null if no case of a file has a prompt, or if a hosted service asks them. */
  models: PlannedModels | null;
  /** The snapshots that `toMatchFile` compares with; null if no case uses it. */
  snapshots: PlannedSnapshots | null;
  /** The checks of one's own that cases may use, by name; null for none. */
  ownChecks: ReadonlyMap<string, OwnCheck> | null;
  /** The files that export further checks; null if no suite names one, or if a hosted service runs the cases. */
  checkModules: PlannedCheckModules | null;
  /** Null if the surface of the server is not compared. */
  surface: PlannedSurface | null;
  /** Null if the policy names no host. */
  hosts: PlannedHosts | null;
  /** Null if the behaviour of the server is not compared with that of a base. */
  behaviour: PlannedBehaviour | null;
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
  /** The checks of one's own that the program has, which cases use by their names. */
  checks?: readonly OwnCheck[];
  /** Models that the program has, by provider and name. */
  models?: ProviderSources['models'];
  /** True if the results become the snapshots. */
  updatesSnapshots?: boolean;
  /** True if answers of models are recorded next to the evals files. */
  isRecording?: boolean;
  /** True if answers of APIs are recorded instead of replayed. */
  recordsUpstream?: boolean;
  /** Makes the server in this process, instead of a command or a URL of the options. */
  inProcess?: ServerFactory;
  /** Suites as text that no file has, with the name by which findings call each. */
  inlineSuites?: readonly InlineSuite[];
}

/**
 * Reads the evals files and turns all options into a plan.
 *
 * @throws {ConfigurationError} with every finding of every file and every option at once.
 */
export async function planGate(options: GateOptions, context: PlanContext): Promise<GatePlan> {
  const findings = createFindings();
  const { cwd, environment, updatesSnapshots = false, recordsUpstream = false } = context;
  const ci = await readCiJob(options, context);
  const service = planService(options, { ci, environment }, findings);
  const joined = await planMerge(options, { cwd }, findings);
  const policy = await loadPolicy(options, { ...context, ci }, findings);
  const { gate: rules } = policy;
  const merge = joined === null ? null : { ...joined, rules: { ...joined.rules, policy: policy.file } };
  const { history, baseline } = await planPast(options, { cwd, base: policy.base }, findings);
  // The suites need the names of the servers, and a reader the mistakes in the suites first.
  const ofServers = createFindings();
  const { servers, variables } = await planServers(options, context, ofServers);
  findings.noteAll(ofServers.notes);
  const serverNames = servers.flatMap(({ name }) => name ?? []);
  const { inlineSuites = [], checks = [] } = context;
  const hasOwnChecks = checks.length > 0;
  const reading = { cwd, ci, profile: service.profile, policy, serverNames, recordsUpstream };
  const sources = { ...reading, hasOwnChecks, inlineSuites };
  const all = merge === null ? await planSuites(options, sources, findings) : [];
  await checkPolicy(policy, { all, merge }, findings);
  const { suites, shard } = planPart(all, { options, rules, history }, findings);
  findings.addAll([...ofServers.issues, ...findVariableIssues(options, suites)]);
  checkElevatedEvent(options, ci.elevatedEvent, findings);
  const reportDir = await planReportDir(options.reportDir ?? '.', context, findings);
  const { planBase } = hasBase(options) ? await import('./plan-base.ts') : { planBase: null };
  const compared = { ...context, ci, servers, variables, suites: all, shard };
  const base = (await planBase?.(options, compared, findings)) ?? null;
  const { planBehaviour } =
    options.behaviour === 'off' ? { planBehaviour: () => null } : await import('./plan-behaviour.ts');
  const { planChecks } = hasOwnChecks ? await import('./plan-checks.ts') : { planChecks: null };
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  const hasModules = files.some(({ checkModules }) => checkModules !== undefined);
  const { planCheckModules } =
    hasModules && service.hosted === null ? await import('./plan-check-modules.ts') : { planCheckModules: () => null };
  const pricing = applyPricingDefaults(rules);
  const common = policy.file?.common ?? emptyPolicyLayer;
  const draft = {
    ...context,
    ci,
    service,
    rules,
    common,
    pricing,
    merge,
    baseline,
    all,
    suites,
    servers,
    base,
    reportDir,
  };
  await planSandboxes(options, draft, findings);
  findings.addAll(findContradictions(options, draft));
  // One row for each part on which no other part depends.
  const parts = {
    github: await planGitHub(options, draft, findings),
    ...planTraces(options, draft, findings),
    upload: planUpload(options, draft, findings),
    models: await planPrompts(options, draft, findings),
    snapshots: await planSnapshots(draft, findings),
    ownChecks: (await planChecks?.(suites, context, findings)) ?? null,
    checkModules: await planCheckModules(options, { cwd, environment, ci, suites: files, policy }, findings),
    surface: await planSurface(options, draft, findings),
    hosts: planHosts(options, draft, findings),
    behaviour: await planBehaviour(options, draft, findings),
    coverage: planCoverage(options, draft),
    page: planPage(options, draft),
  };
  findings.throwIfAny();

  const { github, collector, upload, models } = parts;
  return {
    ...parts,
    cwd,
    suites,
    shard,
    merge,
    servers,
    base: updatesSnapshots || recordsUpstream ? null : base,
    variables,
    service,
    baseline,
    history,
    revision: ci.commit === null && ci.line === null ? null : { commit: ci.commit, branch: ci.line },
    timeoutMs: options.timeout,
    isolation: options.isolation,
    stopsEarly: rules.stopEarly?.value ?? false,
    bails: options.bail,
    reportDir,
    reportFormats: options.reportFormats,
    isFullReport: options.reportFormats.includes('iterations'),
    annotations: options.reportTo.annotations,
    summary: options.reportTo.summary,
    isDryRun: options.dryRun,
    notes: findings.notes,
    remarks: [...policy.remarks, ...findings.remarks],
    policyNotes: policy.notes,
    protectionFindings: policy.base?.listFindings() ?? [],
    limits: { ...applyLimitDefaults(rules), ...pricing },
    secrets: [service, ...servers, base, ...(base?.servers ?? []), github, collector, upload, models].flatMap(
      (part) => part?.secrets ?? [],
    ),
  };
}

/** Checks the names in the policy file, and compares merged shards with what the base requires. */
async function checkPolicy(
  policy: LoadedPolicy,
  { all, merge }: { all: readonly PlannedSuite[]; merge: PlannedMerge | null },
  findings: Findings,
): Promise<void> {
  const joined = merge === null ? [] : groupReported(merge.results);
  if (policy.file !== null) findings.addAll(findAmbiguousNames(policy.file, joined));
  for (const suite of joined) policy.base?.compareStored(suite);
  if (merge?.selection !== undefined) await policy.base?.compareShards(listRanCases(merge), merge.selection);
  const names = merge === null ? all.map(nameSuite) : joined;
  if (policy.file !== null) findings.noteAll(listUnmatchedSuites(policy.file, names));
}

function nameSuite(planned: PlannedSuite): { id: string; name: string } {
  return planned.kind === 'file' ? planned.suite : { id: planned.suite, name: planned.suite };
}

/** Puts cases on probation, and keeps those of the shard. */
function planPart(
  all: PlannedSuite[],
  { options, rules, history }: { options: GateOptions; rules: GateRules; history: GatePlan['history'] },
  findings: Findings,
): Pick<GatePlan, 'suites' | 'shard'> {
  const records = history?.records ?? [];
  const neededGates = rules.probation?.value ?? 0;
  const suites = neededGates === 0 ? all : markProbation(all, { neededGates, records });
  if (options.shard === null) return { suites, shard: null };
  const files = suites.filter((planned) => planned.kind === 'file');
  const { suites: own, shard } = planShard(files, options.shard, records, findings);
  const { evals, cases, tags } = options;
  return { suites: own, shard: { ...shard, selection: { evals, cases, tags } } };
}

/** Finds parts of the plan that are valid alone and contradict each other. */
function findContradictions(
  options: GateOptions,
  {
    rules,
    merge,
    all,
    suites,
    servers,
    base,
    service,
    baseline,
  }: Pick<GatePlan, 'merge' | 'suites' | 'servers' | 'base' | 'service' | 'baseline'> & {
    rules: GateRules;
    all: readonly PlannedSuite[];
  },
): ConfigurationIssue[] {
  return [
    ...(merge === null ? findRuleIssues(rules, { options, suites }) : []),
    ...servers.flatMap((server) => findUnreachableServer(service, server)),
    ...findCommandsAlone(suites, servers),
    ...findWorkspaceIssues({ suites, servers, base, service }, options),
    ...findUnenforceablePins(service, { options, suites }),
    ...findSharedBaseline(baseline, all),
  ];
}
